# 资料帖没有打开过。
# also: unread-source
# drop-audit: 504-2-changes
true
