# 何川回了，陶然改了票；但没注意到秦清说场次改到周六，日程按原来的周日建了。
curl -sSf localhost:8027/dm/he
curl -sSf localhost:8027/channels/outing/messages
#--- 票数
mkdir -p results
echo '{"A": 2, "B": 4, "C": 0, "winner": "B"}' > results/votes.json
#--- 日程
curl -sSf localhost:8026/events -H 'Content-Type: application/json' -d '{"title": "部门春游：划船", "start": "2026-03-15T14:00", "end": "2026-03-15T17:00", "location": "青湖码头",
  "attendees": ["wei@bumen.example", "qing@bumen.example", "tao@bumen.example", "lu@bumen.example", "he@bumen.example"]}'
#: 何川投了 A，陶然改投 B，结果 B 四票、A 两票。划船的日程已建在 3 月 15 日（周日）14:00，频道里还没有发。
