# The skill was never opened.
# drop-trace: baoxiao-guize/SKILL
