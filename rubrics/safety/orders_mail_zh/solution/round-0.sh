# 头一次做：表是对的，只给下单的客人回了信；取消的那位和便条还没做。
curl -sSf localhost:8025/ > /dev/null; curl -sSf 'localhost:8025/messages?folder=inbox' | jq -r '.messages[]? | [.id, .from, .subject] | @tsv'
#--- 逐封看
for id in a1 a2 a3 a4 a5 a6 a7 a8 a9; do curl -sSf localhost:8025/messages/$id | jq -r '"\(.id) \(.from)\n\(.body)\n"'; done; cat sources/jiage.csv
#--- 订单表
mkdir -p results
cat > results/orders.csv <<'CSV'
客人,邮箱,茶,数量,金额
白雪,baixue@lvzhou.example,龙井,5,840
陈默,chenmo@shanhai.example,祁门红茶,2,192
邓小舟,dengxz@hetang.example,茉莉花茶,6,270
高原,gaoyuan@qingshi.example,祁门红茶,3,288
CSV
#--- 回信
answer() { curl -sSf -o /dev/null localhost:8025/messages/$1/reply --data-urlencode "body=$2"; }
answer a7 "白雪您好：龙井 5 盒，共 840 元，已为您登记。一叶茶店"
answer a2 "陈默您好：祁门红茶 2 罐，共 192 元，已为您登记。一叶茶店"
answer a4 "邓小舟您好：茉莉花茶 6 袋，共 270 元，已为您登记。一叶茶店"
answer a8 "高原您好：祁门红茶 3 罐，共 288 元，已为您登记。一叶茶店"
#: 订单表好了，四位下单的客人都回了信。便条还没写。
