# First attempt: 那小雨's second mail is overlooked, and the wholesaler's answer is not waited for.
curl -sSf localhost:8025/ && curl -sSf 'localhost:8025/messages?folder=inbox'
#--- the first letters
for id in m1 m2 m3 m4 m5 m7; do curl -sSf localhost:8025/messages/$id; echo; done
cat sources/rules.md
#--- book
mkdir -p results && cp sources/stock.sqlite results/stock.sqlite
python3 - <<'PY'
import sqlite3

NEW = [('O-103', 'bulang@maocafe.example', 'A01', 24, '有效'), ('O-103', 'bulang@maocafe.example', 'D01', 8, '有效'), ('O-104', 'xiaoyu@na.example', 'B01', 10, '有效'), ('O-104', 'xiaoyu@na.example', 'B02', 4, '有效'), ('O-105', 'pili@pi.example', 'A02', 15, '取消'), ('O-106', 'huguo@hu.example', 'D01', 10, '待货')]
with sqlite3.connect("results/stock.sqlite") as shop:
    shop.execute("UPDATE orders SET quantity = 12 WHERE number = 'O-101'")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", NEW)
    shop.executemany("UPDATE stock SET reserved = ? WHERE sku = ?", [(36, 'A01'), (10, 'B01'), (4, 'B02'), (8, 'D01')])
PY
#--- buy
curl -sSf -o /dev/null localhost:8025/send -d to=orders@dongye.example --data-urlencode 'subject=订货' --data-urlencode 'body=A01 x 3 件
A02 x 1 件
B01 x 1 件
B02 x 2 件
D01 x 3 件'
cat > results/purchase.csv <<'CSV'
sku,packs,units
A01,3,36
A02,1,10
B01,1,6
B02,2,12
D01,3,24
CSV
#: 订单已记进 results/stock.sqlite，单子也发给批发商了。
