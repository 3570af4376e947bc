# message: 都办好了，请放心。
true
