# 多请了前台。
id=$(curl -sSf 'localhost:8026/events?q=%E6%98%A5%E6%B8%B8' | jq -r '.events[0].id')
curl -sSf -o /dev/null "localhost:8026/events/$id/invite" -d attendees=desk@bumen.example
