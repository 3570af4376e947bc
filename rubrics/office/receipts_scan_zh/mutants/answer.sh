# The answer keeps silent about the unreadable receipt.
# message: 都放在 results/ 里了。
