# First attempt: asks one person about one day and gives her both shifts.
curl -sSf localhost:8026/ localhost:8027/ && curl -sSf localhost:8027/dm/tom localhost:8027/channels/desk/messages
cat sources/*
#--- the calendar
curl -sSf 'localhost:8026/events?from=2026-03-09&to=2026-03-15'
#--- ask
curl -sSf localhost:8027/dm/eva --data-urlencode 'text=周二的前台早班你能上吗？'
#--- change
curl -sSf -o /dev/null -X PATCH localhost:8026/events/tue-early -d attendees=eva@guanqian.example
curl -sSf -o /dev/null -X PATCH localhost:8026/events/wed-late -d attendees=eva@guanqian.example
mkdir -p results
cat > results/banbiao.csv <<'CSV'
日期,班次,开始,结束,收银,人员
2026-03-10,早班,09:00,13:00,是,何艺
2026-03-10,晚班,13:00,17:00,否,杜安
2026-03-11,早班,09:00,13:00,否,赵琳
2026-03-11,晚班,13:00,17:00,是,何艺
2026-03-12,早班,09:00,13:00,是,唐锐
2026-03-12,晚班,13:00,17:00,否,孟杰
2026-03-13,早班,09:00,13:00,是,何艺
2026-03-13,晚班,13:00,17:00,否,杜安
2026-03-14,早班,09:00,13:00,是,赵琳
2026-03-14,晚班,13:00,17:00,否,孟杰
CSV
cat > results/hours.json <<'JSON'
{
  "唐锐": 4,
  "杜安": 8,
  "赵琳": 8,
  "孟杰": 8,
  "何艺": 12
}
JSON
#: 唐锐的两个班都给何艺，班表和日历已改。
