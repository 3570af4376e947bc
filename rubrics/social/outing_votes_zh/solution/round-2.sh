# 再看一遍频道，发现周日订满；改日程，发公告。
curl -sSf 'localhost:8027/channels/outing/messages?limit=5'
id=$(curl -sSf 'localhost:8026/events?q=%E6%98%A5%E6%B8%B8' | jq -r '.events[0].id')
curl -sSf -X PATCH "localhost:8026/events/$id" -d start=2026-03-14T14:00 -d end=2026-03-14T17:00
#--- 公告
curl -sSf localhost:8027/channels/outing/messages \
  --data-urlencode 'text=春游定了：划船（B 四票）。周日没有船了，改在 3 月 14 日（周六）14:00 到 17:00，青湖码头集合，日程已发给大家。'
#: 定下来了：划船，3 月 14 日（周六）14:00 到 17:00，青湖码头。周日的船订满了，所以日程改到了周六；频道里已经通知。
