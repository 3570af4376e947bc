# 取消了例会。
curl -sSf -o /dev/null -X DELETE localhost:8026/events/weekly
