# message: 展位都分好了。
true
