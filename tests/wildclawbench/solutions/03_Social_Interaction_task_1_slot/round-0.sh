cat /root/skills/*/SKILL.md 2>/dev/null | head -40
curl -s http://localhost:8025/messages
curl -s 'http://localhost:8026/events?from=2026-03-04&to=2026-03-05'
#---
id=$(curl -s 'http://localhost:8025/messages?from=dana' | python3 -c 'import json,sys; d=json.load(sys.stdin); print((d if isinstance(d, list) else d["messages"])[0]["id"])')
curl -sf "http://localhost:8025/messages/$id"
curl -sf http://localhost:8026/events -H 'Content-Type: application/json' \
  -d '{"title": "Spring list with Dana", "start": "2026-03-04T10:30", "end": "2026-03-04T11:00", "attendees": ["dana@press.example"]}'
curl -sf "http://localhost:8025/messages/$id/reply" -H 'Content-Type: application/json' \
  -d '{"body": "Hi Dana, Wednesday 4 March at 10:30 suits me. Noor"}'
#: The meeting with Dana is on Wednesday at 10:30, and she has my answer.
