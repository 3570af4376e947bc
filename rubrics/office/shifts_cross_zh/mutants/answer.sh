# message: 班都补齐了。
true
