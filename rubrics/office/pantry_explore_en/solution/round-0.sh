# A first attempt believes the README: stock from the view.
find sources/pantry -type f; cat sources/pantry/README.txt sources/pantry/orders/orders.csv sources/pantry/counter/scan.log
#--- the database
sqlite3 'file:sources/pantry/pantry.db?mode=ro' .schema 'SELECT * FROM cfg' 'SELECT * FROM memo' 'SELECT * FROM art' 'SELECT * FROM lot' 'SELECT * FROM mov'
#--- stock from the view
mkdir -p results
python3 - <<'PY'
import csv, json, sqlite3
book = sqlite3.connect("file:sources/pantry/pantry.db?mode=ro", uri=True)
depots = {k[4:]: v for k, v in book.execute("SELECT k, v FROM cfg WHERE k LIKE 'dep.%'")}
rows = book.execute("SELECT lot.lid, nm, dep, qty, best FROM v_stock JOIN lot USING (lid) JOIN art USING (aid) WHERE st = 0 AND qty > 0 ORDER BY lid").fetchall()
totals = {}
for lot, name, depot, amount, best in rows:
    totals[name, depots[depot]] = totals.get((name, depots[depot]), 0) + amount
with open("results/stock.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["article", "depot", "quantity"])
    writer.writerows([*key, f"{value:g}"] for key, value in totals.items())
with open("results/expiring.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["lot", "article", "depot", "quantity", "best_before"])
    writer.writerows([lot, name, depots[depot], f"{amount:g}", best] for lot, name, depot, amount, best in rows if best <= "2025-04-30")
PY
cat results/stock.csv
#: Stock and expiring lots are in results/, taken from the stock view.
