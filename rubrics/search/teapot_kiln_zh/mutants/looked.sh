# 工单没有打开过。
# also: unread-source
# drop-audit: "id": ?"T-12"
true
