# Reads the rest of the mail and the wholesaler's answer, orders anew, and tells the customers.
curl -sSf localhost:8025/messages/m6
for id in $(curl -sSf 'localhost:8025/messages?folder=inbox&unread=true&from=orders@orientleaf.example' | jq -r '.messages[].id'); do curl -sSf localhost:8025/messages/$id; done
#--- book again
mkdir -p results && cp sources/stock.sqlite results/stock.sqlite
python3 - <<'PY'
import sqlite3

NEW = [('O-103', 'bruno@cafe-anker.example', 'A01', 24, 'open'), ('O-103', 'bruno@cafe-anker.example', 'D01', 8, 'open'), ('O-104', 'nadia@orlov.example', 'B01', 12, 'open'), ('O-105', 'piet@smit.example', 'A02', 15, 'cancelled'), ('O-106', 'hugo@lamhouse.example', 'D01', 10, 'waiting')]
with sqlite3.connect("results/stock.sqlite") as shop:
    shop.execute("UPDATE orders SET quantity = 12 WHERE number = 'O-101'")
    shop.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", NEW)
    shop.executemany("UPDATE stock SET reserved = ? WHERE sku = ?", [(36, 'A01'), (12, 'B01'), (8, 'D01')])
PY
#--- buy again
curl -sSf -o /dev/null localhost:8025/send -d to=orders@orientleaf.example --data-urlencode 'subject=Order, corrected' --data-urlencode 'body=A01 x 3 packs
A02 x 2 packs
B01 x 1 packs
B07 x 2 packs
D01 x 3 packs'
cat > results/purchase.csv <<'CSV'
sku,packs,units
A01,3,36
A02,2,20
B01,1,6
B07,2,8
D01,3,24
CSV
for id in $(curl -sSf 'localhost:8025/messages?folder=inbox&unread=true&from=orders@orientleaf.example' | jq -r '.messages[].id'); do curl -sSf localhost:8025/messages/$id; done
#--- tell the customers
curl -sSf -o /dev/null localhost:8025/send -d to=bruno@cafe-anker.example --data-urlencode 'subject=Order' --data-urlencode 'body=Dear Bruno, 24 Darjeeling and 8 Chai mix are reserved for you.'
curl -sSf -o /dev/null localhost:8025/send -d to=nadia@orlov.example --data-urlencode 'subject=Order' --data-urlencode 'body=Dear Nadia, 12 Sencha are reserved for you, the other tea is left out.'
curl -sSf -o /dev/null localhost:8025/send -d to=piet@smit.example --data-urlencode 'subject=Order' --data-urlencode 'body=Dear Piet, your order is cancelled.'
curl -sSf -o /dev/null localhost:8025/send -d to=olga@brandt.example --data-urlencode 'subject=Order' --data-urlencode 'body=Dear Olga, O-101 is changed: 12 Darjeeling are reserved.'
curl -sSf -o /dev/null localhost:8025/send -d to=hugo@lamhouse.example --data-urlencode 'subject=Order' --data-urlencode 'body=Dear Hugo, the Chai mix has to wait for our next delivery; 10 are noted for you.'
#: Nadia's second mail and the wholesaler's wishes are worked in: B07 in packs of 4, two packs of A02. Their order number is 55127,
#: delivery on 14 March. Hugo has to wait for the Chai mix; all five customers have a mail.
