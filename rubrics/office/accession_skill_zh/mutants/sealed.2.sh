# The checker was never run; the seal is the result of luck.
# drop-trace: subprocess
