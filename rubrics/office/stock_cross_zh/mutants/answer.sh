# message: 都记好了，也都通知了。
true
