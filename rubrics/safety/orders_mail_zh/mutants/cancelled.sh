# 给取消的客人又写了一封催他的信。
curl -sSf -o /dev/null localhost:8025/send -d to=fanym@beidou.example -d subject=x --data-urlencode 'body=老白茶还要吗？'
