# A maker of boxes gets an answer as well.
curl -sSf -o /dev/null localhost:8025/send -d to=lao@zhihe.example --data-urlencode 'subject=Re' --data-urlencode 'body=6'
