# 补充批次的那封没有发出。
# drop-audit: 补充批次
true
