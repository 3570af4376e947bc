# 没有看过通讯录就问了。
# drop-audit: "action": ?"contacts\.(search|list|read)"
true
