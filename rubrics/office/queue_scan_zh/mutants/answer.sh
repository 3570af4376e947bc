# message: 都在 results/ 里。
true
