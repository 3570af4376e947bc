# 没有问过何川。
# drop-audit: "action": ?"chat\.dm"
true
