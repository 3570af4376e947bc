# First attempt: asks one person about one day and gives her both shifts.
curl -sSf localhost:8026/ localhost:8027/ && curl -sSf localhost:8027/dm/tom localhost:8027/channels/desk/messages
cat sources/*
#--- the calendar
curl -sSf 'localhost:8026/events?from=2026-03-09&to=2026-03-15'
#--- ask
curl -sSf localhost:8027/dm/eva --data-urlencode 'text=Could you do the early desk shift on Tuesday?'
#--- change
curl -sSf -o /dev/null -X PATCH localhost:8026/events/tue-early -d attendees=eva@tollhouse.example
curl -sSf -o /dev/null -X PATCH localhost:8026/events/wed-late -d attendees=eva@tollhouse.example
mkdir -p results
cat > results/rota.csv <<'CSV'
date,shift,start,end,till,person
2026-03-10,early,09:00,13:00,yes,Eva Holt
2026-03-10,late,13:00,17:00,no,Ana Duro
2026-03-11,early,09:00,13:00,no,Lin Zhao
2026-03-11,late,13:00,17:00,yes,Eva Holt
2026-03-12,early,09:00,13:00,yes,Tom Reiss
2026-03-12,late,13:00,17:00,no,Raj Menon
2026-03-13,early,09:00,13:00,yes,Eva Holt
2026-03-13,late,13:00,17:00,no,Ana Duro
2026-03-14,early,09:00,13:00,yes,Lin Zhao
2026-03-14,late,13:00,17:00,no,Raj Menon
CSV
cat > results/hours.json <<'JSON'
{
  "Tom Reiss": 4,
  "Ana Duro": 8,
  "Lin Zhao": 8,
  "Raj Menon": 8,
  "Eva Holt": 12
}
JSON
#: Eva takes Tom's two shifts, the rota and the calendar are changed.
