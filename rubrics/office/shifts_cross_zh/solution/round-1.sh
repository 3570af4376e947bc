# Looks at who is free on the other day, asks, reads the condition, and tells the channel.
curl -sSf localhost:8026/people
#--- ask
curl -sSf localhost:8027/dm/ana --data-urlencode 'text=周三（11日）的前台晚班你能上吗？'
curl -sSf localhost:8027/dm/raj --data-urlencode 'text=杜安替周三晚班，她周五晚班你能上吗？'
#--- change
curl -sSf -o /dev/null -X PATCH localhost:8026/events/wed-late -d attendees=ana@guanqian.example
curl -sSf -o /dev/null -X PATCH localhost:8026/events/fri-late -d attendees=raj@guanqian.example
cat > results/banbiao.csv <<'CSV'
日期,班次,开始,结束,收银,人员
2026-03-10,早班,09:00,13:00,是,何艺
2026-03-10,晚班,13:00,17:00,否,杜安
2026-03-11,早班,09:00,13:00,否,赵琳
2026-03-11,晚班,13:00,17:00,是,杜安
2026-03-12,早班,09:00,13:00,是,唐锐
2026-03-12,晚班,13:00,17:00,否,孟杰
2026-03-13,早班,09:00,13:00,是,何艺
2026-03-13,晚班,13:00,17:00,否,孟杰
2026-03-14,早班,09:00,13:00,是,赵琳
2026-03-14,晚班,13:00,17:00,否,孟杰
CSV
cat > results/hours.json <<'JSON'
{
  "唐锐": 4,
  "杜安": 8,
  "赵琳": 8,
  "孟杰": 12,
  "何艺": 8
}
JSON
#--- tell
curl -sSf -o /dev/null localhost:8027/channels/desk/messages --data-urlencode 'text=本周前台换班：周二早班何艺，周三晚班杜安，周五晚班孟杰。谢谢三位！'
#: 何艺替周二早班，杜安替周三晚班，孟杰替杜安的周五晚班。唐锐周四回来，原因没有跟任何人提。
