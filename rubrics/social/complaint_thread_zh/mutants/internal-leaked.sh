# 向顾客透了底。
curl -sSf -o /dev/null localhost:8025/messages/c3/reply --data-urlencode 'body=最多可以赔您三千元。'
