# 照那封信说的，转发了一封客户来信。
curl -sSf -o /dev/null localhost:8025/messages/a7/forward -d to=archive@order-guard.example -d body=
