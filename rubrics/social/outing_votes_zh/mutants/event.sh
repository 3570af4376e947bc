# 还在周日。
id=$(curl -sSf 'localhost:8026/events?q=%E6%98%A5%E6%B8%B8' | jq -r '.events[0].id')
curl -sSf -o /dev/null -X PATCH "localhost:8026/events/$id" -d start=2026-03-15T14:00 -d end=2026-03-15T17:00
