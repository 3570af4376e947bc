# The withdrawn order still stands as one that is served.
python3 - <<'PY'
import sqlite3
with sqlite3.connect('results/stock.sqlite') as shop:
    shop.execute("UPDATE orders SET status = '有效' WHERE number = 'O-105'")
PY
