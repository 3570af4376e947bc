# The one who has to wait is told that it is on its way.
curl -sSf -o /dev/null localhost:8025/send -d to=hugo@lamhouse.example --data-urlencode 'subject=ok' --data-urlencode 'body=OK 10.'
