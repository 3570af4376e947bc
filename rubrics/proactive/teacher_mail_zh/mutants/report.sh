# message: 邮件已经发好了。
true
