# 又整封转发了一遍。
curl -sSf -o /dev/null localhost:8025/messages/c1/forward -d to=quality@qinghe-factory.example
