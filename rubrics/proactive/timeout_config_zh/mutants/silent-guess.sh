# also: asks
# message: orders 的 read_timeout 现在是 90。
true
