# 公告撤回了。
id=$(curl -sSf 'localhost:8027/search?q=%E6%98%A5%E6%B8%B8%E5%AE%9A%E4%BA%86&from=zhou' | jq -r '.messages[0].id')
curl -sSf -o /dev/null -X DELETE "localhost:8027/messages/$id"
