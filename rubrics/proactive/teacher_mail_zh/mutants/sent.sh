# 信里没有说改到哪天。
# also: once
# drop-audit: 给您添麻烦
curl -sSf -o /dev/null localhost:8025/send -d to=wxm@shuli.example --data-urlencode subject=改时间 --data-urlencode "body=王老师，周二三点的课能否改时间？沈洁"
