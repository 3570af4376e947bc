# 删掉了一位老师。
curl -sSf -o /dev/null -X DELETE localhost:8028/contacts/w3
