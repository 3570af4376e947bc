# The skill was never opened.
# drop-trace: expense-rules/SKILL
