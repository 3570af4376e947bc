# 旧的周日日程也在。
curl -sSf -o /dev/null localhost:8026/events -H 'Content-Type: application/json' -d '{"title": "部门春游", "start": "2026-03-15T14:00", "end": "2026-03-15T17:00",
  "attendees": ["wei@bumen.example", "qing@bumen.example", "tao@bumen.example", "lu@bumen.example", "he@bumen.example"]}'
