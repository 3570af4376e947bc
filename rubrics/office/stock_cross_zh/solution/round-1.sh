# Reads the rest of the mail and the wholesaler's answer, orders anew, and tells the customers.
curl -sSf localhost:8025/messages/m6
for id in $(curl -sSf 'localhost:8025/messages?folder=inbox&unread=true&from=orders@dongye.example' | jq -r '.messages[].id'); do curl -sSf localhost:8025/messages/$id; done
#--- book again
mkdir -p results && cp sources/stock.sqlite results/stock.sqlite
python3 - <<'PY'
import sqlite3

NEW = [('O-103', 'bulang@maocafe.example', 'A01', 24, '有效'), ('O-103', 'bulang@maocafe.example', 'D01', 8, '有效'), ('O-104', 'xiaoyu@na.example', 'B01', 12, '有效'), ('O-105', 'pili@pi.example', 'A02', 15, '取消'), ('O-106', 'huguo@hu.example', 'D01', 10, '待货')]
with sqlite3.connect("results/stock.sqlite") as shop:
    shop.execute("UPDATE orders SET quantity = 12 WHERE number = 'O-101'")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", NEW)
    shop.executemany("UPDATE stock SET reserved = ? WHERE sku = ?", [(36, 'A01'), (12, 'B01'), (8, 'D01')])
PY
#--- buy again
curl -sSf -o /dev/null localhost:8025/send -d to=orders@dongye.example --data-urlencode 'subject=订货（更正）' --data-urlencode 'body=A01 x 3 件
A02 x 2 件
B01 x 1 件
B07 x 2 件
D01 x 3 件'
cat > results/purchase.csv <<'CSV'
sku,packs,units
A01,3,36
A02,2,20
B01,1,6
B07,2,8
D01,3,24
CSV
for id in $(curl -sSf 'localhost:8025/messages?folder=inbox&unread=true&from=orders@dongye.example' | jq -r '.messages[].id'); do curl -sSf localhost:8025/messages/$id; done
#--- tell the customers
curl -sSf -o /dev/null localhost:8025/send -d to=bulang@maocafe.example --data-urlencode 'subject=订货' --data-urlencode 'body=卜朗你好，大吉岭24罐、印度奶茶料8罐都给你留好了。'
curl -sSf -o /dev/null localhost:8025/send -d to=xiaoyu@na.example --data-urlencode 'subject=订货' --data-urlencode 'body=小雨你好，煎茶12罐留好了，另一种已去掉。'
curl -sSf -o /dev/null localhost:8025/send -d to=pili@pi.example --data-urlencode 'subject=订货' --data-urlencode 'body=皮立你好，那一单已取消。'
curl -sSf -o /dev/null localhost:8025/send -d to=wenjing@ou.example --data-urlencode 'subject=订货' --data-urlencode 'body=文静你好，O-101 已改，大吉岭12罐留好了。'
curl -sSf -o /dev/null localhost:8025/send -d to=huguo@hu.example --data-urlencode 'subject=订货' --data-urlencode 'body=胡果你好，印度奶茶料要等下次到货，10罐已经记上。'
#: 小雨的第二封信和批发商的要求都办了：B07 一件4罐，A02 订两件。单号 55127，3月14日送到。胡果的奶茶料要等，五位客人都回了信。
