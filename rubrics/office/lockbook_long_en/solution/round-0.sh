# A first attempt takes the figures as they stand.
head -c 3000 sources/lock-book.txt
#--- months as written
mkdir -p results
python3 - <<'PY'
import csv
import re
from datetime import date, datetime

rain, river = {}, {}
for block in open("sources/lock-book.txt", encoding="utf-8").read().split("\n\n"):
    found = re.match(r"\w+day (\d+) (\w+) (\d{4})", block)
    if not found:
        continue
    day, said = datetime.strptime(" ".join(found.groups()), "%d %B %Y").date(), block.split("\n", 1)[1]
    wet = re.search(r"^Rain ([\d.]+)\. ", said)
    rain[day] = float(wet[1]) if wet else 0.0
    river[day] = float(re.search(r"River ([\d.]+)\.", said)[1])
days = sorted(rain)
with open("results/monthly.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["month", "rain_mm", "wettest_day", "max_river_m"])
    for month in sorted({f"{d:%Y-%m}" for d in days}):
        inside = [d for d in days if f"{d:%Y-%m}" == month]
        wettest = max(inside, key=rain.get)
        writer.writerow([month, f"{sum(rain[d] for d in inside):.1f}", wettest, f"{max(river[d] for d in inside):.2f}"])
print(open("results/monthly.csv", encoding="utf-8").read())
PY
#: The monthly figures are in results/monthly.csv.
