# The answer keeps silent about the unreadable receipt.
# message: Everything is in results/.
