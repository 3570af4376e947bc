# also: once
# 又给教小提琴的发了一封。
curl -sSf -o /dev/null localhost:8025/send -d to=wangxuemei2@strings.example --data-urlencode subject=小宇的课 -d body=.
