# The skill was never opened.
# drop-trace: SKILL\.md
