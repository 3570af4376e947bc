# 没有落款；改的是已经发出的那一封。
# also: once
# drop-audit: 给您添麻烦
curl -sSf -o /dev/null localhost:8025/send -d to=wxm@shuli.example --data-urlencode subject=小宇的课 --data-urlencode 'body=王老师，周二三点的课请改到周四三点。'
