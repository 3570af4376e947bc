# 有了答复：物理的王雪梅老师。
curl -sSf localhost:8025/send -d to=wxm@shuli.example --data-urlencode 'subject=小宇下周二的课想改到周四' \
  --data-urlencode 'body=王老师：您好！下周二（3 月 10 日）下午三点小宇的课上不了，想改到周四（3 月 12 日）下午三点，请您看看方便吗？给您添麻烦了。
小宇妈妈 沈洁'
#: 已发给教物理的王雪梅老师（wxm@shuli.example）。她回信说可以，周四三点见。
