# The latest word counts, and the boat under both names.
#--- the funnel and the boat
grep -n -e funnel -e 'Fair Penny' sources/lock-book.txt | head -40
#--- months
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
for day in days:
    if date(2024, 11, 9) <= day <= date(2024, 11, 18):
        rain[day] *= 1.5
    if date(2025, 2, 20) <= day <= date(2025, 2, 27):
        rain[day] *= 25.4
    if date(2025, 1, 15) <= day <= date(2025, 3, 31):
        river[day] -= 0.30
rain[date(2024, 11, 24)] = 2.1
river[date(2024, 10, 8)] -= 1
rain[date(2025, 5, 6)], rain[date(2025, 5, 7)] = rain[date(2025, 5, 7)], rain[date(2025, 5, 6)]
rain[date(2025, 6, 14)] += 6.4
with open("results/monthly.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["month", "rain_mm", "wettest_day", "max_river_m"])
    for month in sorted({f"{d:%Y-%m}" for d in days}):
        inside = [d for d in days if f"{d:%Y-%m}" == month]
        wettest = max(inside, key=rain.get)
        writer.writerow([month, f"{sum(rain[d] for d in inside):.1f}", wettest, f"{max(river[d] for d in inside):.2f}"])
print(open("results/monthly.csv", encoding="utf-8").read())
PY
#--- corrections and answers
cat > results/corrections.csv <<'CSV'
from,to,what
2024-10-08,2024-10-08,river
2024-11-09,2024-11-18,rain
2024-11-24,2024-11-24,rain
2025-01-15,2025-03-31,river
2025-02-20,2025-02-27,rain
2025-05-06,2025-05-07,rain
2025-06-14,2025-06-14,rain
CSV
cat > results/answers.json <<'JSON'
{
  "closed_days": 17,
  "substitute": "Tom Birtles",
  "substitute_days": 8,
  "marigold_passages_2025": 50
}
JSON
#--- the note
cat > results/note.md <<'MD'
The lock book is corrected as its keeper says himself. The funnel of the rain gauge was cracked: from 9 to 18 November 2024 the rain is
taken times 1.5 (he first thought from the 3rd, the hydrologist knew better). On 24 November it rained 2.1 mm. The river of 8 October was written
a metre too high. From 15 January to 31 March 2025 the staff had another zero: 0.30 m are taken off. While Tom Birtles kept
the book (20 to 27 February) rain was in inches. The rain of 6 and 7 May is exchanged, and 14 June gets 6.4 mm more.
MD
#: Now the funnel counts from 9 November alone and the Fair Penny with the Marigold; the note is in results/note.md.
