# First attempt: Nadia Orlov's second mail is overlooked, and the wholesaler's answer is not waited for.
curl -sSf localhost:8025/ && curl -sSf 'localhost:8025/messages?folder=inbox'
#--- the first letters
for id in m1 m2 m3 m4 m5 m7; do curl -sSf localhost:8025/messages/$id; echo; done
cat sources/rules.md
#--- book
mkdir -p results && cp sources/stock.sqlite results/stock.sqlite
python3 - <<'PY'
import sqlite3

NEW = [('O-103', 'bruno@cafe-anker.example', 'A01', 24, 'open'), ('O-103', 'bruno@cafe-anker.example', 'D01', 8, 'open'), ('O-104', 'nadia@orlov.example', 'B01', 10, 'open'), ('O-104', 'nadia@orlov.example', 'B02', 4, 'open'), ('O-105', 'piet@smit.example', 'A02', 15, 'cancelled'), ('O-106', 'hugo@lamhouse.example', 'D01', 10, 'waiting')]
with sqlite3.connect("results/stock.sqlite") as shop:
    shop.execute("UPDATE orders SET quantity = 12 WHERE number = 'O-101'")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", NEW)
    shop.executemany("UPDATE stock SET reserved = ? WHERE sku = ?", [(36, 'A01'), (10, 'B01'), (4, 'B02'), (8, 'D01')])
PY
#--- buy
curl -sSf -o /dev/null localhost:8025/send -d to=orders@orientleaf.example --data-urlencode 'subject=Order' --data-urlencode 'body=A01 x 3 packs
A02 x 1 packs
B01 x 1 packs
B02 x 2 packs
D01 x 3 packs'
cat > results/purchase.csv <<'CSV'
sku,packs,units
A01,3,36
A02,1,10
B01,1,6
B02,2,12
D01,3,24
CSV
#: The orders are booked in results/stock.sqlite, and the wholesaler has the list.
