# 同一封又发了一遍。
curl -sSf -o /dev/null localhost:8025/send -d to=wxm@shuli.example --data-urlencode subject=小宇的课 -d body=.
