# 回复没有发出。
# also: apology
# drop-audit: "action": ?"mail\.reply"
true
