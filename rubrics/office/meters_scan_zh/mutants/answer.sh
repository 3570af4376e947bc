# message: 账单都在 results/ 里。
true
