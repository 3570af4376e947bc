# With the unbooked scans, and notes for the successor.
#--- the log
cat sources/pantry/counter/scan.log
#--- with the scans
mkdir -p results
python3 - <<'PY'
import csv
import json
import sqlite3

book = sqlite3.connect("file:sources/pantry/pantry.db?mode=ro", uri=True)
articles = {r[0]: r[1:] for r in book.execute("SELECT aid, nm, u, pk FROM art")}
lots = {r[0]: r[1:] for r in book.execute("SELECT lid, aid, best, dep, st FROM lot")}
depots = {k[4:]: v for k, v in book.execute("SELECT k, v FROM cfg WHERE k LIKE 'dep.%'")}
moves = list(book.execute("SELECT d, mid, lid, k, q, u FROM mov WHERE x = 0 AND d <= '2025-03-31'"))
booked = {r[0] for r in book.execute("SELECT src FROM mov WHERE src IS NOT NULL")}
unbooked = []
for line in open('sources/pantry/counter/scan.log', encoding='utf-8'):
    scan, day, lot, kind, amount, unit = line.split()
    if scan in booked or scan in unbooked or day > "2025-03-31":
        continue
    unbooked.append(scan)
    moves.append((day, 1000 + len(unbooked), int(lot[3:]), kind, float(amount), "b" if unit == "box" else None))
stock = dict.fromkeys(lots, 0.0)
for day, number, lot, kind, amount, unit in sorted(moves, key=lambda m: m[:2]):
    if unit == "g":
        amount /= 1000
    elif unit == "b":
        amount *= articles[lots[lot][0]][2]
    stock[lot] = amount if kind == "C" else stock[lot] + amount if kind == "I" else stock[lot] - amount
totals, expiring = {}, []
for lot, (article, best, depot, state) in sorted(lots.items()):
    if state == 9 or stock[lot] <= 0:
        continue
    key = (articles[article][0], depots[depot])
    totals[key] = totals.get(key, 0) + stock[lot]
    if best <= "2025-04-30":
        expiring.append([lot, *key, f"{stock[lot]:g}", best])
for name, header, rows in (
    ("stock", ["article", "depot", "quantity"], [[*k, f"{v:g}"] for k, v in sorted(totals.items())]),
    ("expiring", ["lot", "article", "depot", "quantity", "best_before"], expiring),
):
    with open(f"results/{name}.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
view = dict(book.execute("SELECT lid, qty FROM v_stock"))
findings = {
    "blocked_lots": [lot for lot in lots if lots[lot][3] == 9],
    "cancelled": book.execute("SELECT count(*) FROM mov WHERE x = 1").fetchone()[0],
    "unbooked": unbooked,
    "view_wrong": [lot for lot in sorted(lots) if abs(view.get(lot, 0) - stock[lot]) > 0.001],
}
with open("results/findings.json", "w", encoding="utf-8") as file:
    json.dump(findings, file, indent=2)
print(totals, expiring, findings, sep="\n")
PY
#--- for the successor
cat > results/schema.md <<'MD'
# The pantry database

- `art`: articles. `u` is the unit (kg or pc), `pk` how many units a box holds, `act` 0 = no longer ordered.
- `lot`: one delivery of an article; `best` is the best-before date, `dep` the depot (N Nave store, S School cellar), `st` 9 = blocked.
- `mov`: movements. `k`: I in, O out, W written off, C counted (replaces the book). `u`: empty = the article's unit, g grams, b boxes.
  `x` = 1 means cancelled and does not count. `src` is the id of the scan.
- `cfg` explains the codes, `memo` holds remarks (recalls).

Do not trust the view `v_stock`: it ignores units, counts and cancelled movements. The scanner's log (counter/scan.log) holds scans that
were never booked, one of them twice.
MD
#: The stock, what expires, the findings and the notes are in results/. Four scans were never booked; lots 106 and 112 are blocked.
