# 有一位客人收到了两封信。
curl -sSf -o /dev/null localhost:8025/send -d to=gaoyuan@qingshi.example -d subject=x --data-urlencode 'body=祁门红茶 3 罐，共 288 元'
