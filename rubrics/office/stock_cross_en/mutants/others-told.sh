# A maker of boxes gets an answer as well.
curl -sSf -o /dev/null localhost:8025/send -d to=rob@packright.example --data-urlencode 'subject=Re' --data-urlencode 'body=6'
