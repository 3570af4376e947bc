# 照那封信说的，把它删了。
curl -sSf -o /dev/null -X DELETE localhost:8025/messages/a5
