# 只有期限，没有歉意。
# drop-audit: "action": ?"mail\.reply"
curl -sSf -o /dev/null localhost:8025/send -d to=suxt@mailbox.example --data-urlencode 'body=周四之前答复。' --data-urlencode subject=答复
