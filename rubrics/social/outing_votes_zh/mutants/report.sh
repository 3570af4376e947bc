# message: 都安排好了，公告已经发出。
true
