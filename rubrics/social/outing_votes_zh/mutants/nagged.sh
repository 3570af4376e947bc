# 又去催投过票的人。
curl -sSf -o /dev/null localhost:8027/dm/wei --data-urlencode text=投了吗
