"""Checks a register before it is handed in: python3 check_register.py REGISTER.csv"""
import csv
import hashlib
import re
import sys

COLUMNS = ["number", "received", "donor", "description", "parts", "material", "location", "insured"]
LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"


def letter(digits):
    return LETTERS[sum(int(d) * w for w, d in enumerate(digits, 1)) % 23]


def main(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    wrong = []
    if not rows or rows[0] != COLUMNS:
        wrong.append("columns must be " + ",".join(COLUMNS))
    for place, row in enumerate(rows[1:], 1):
        number = row[0] if row else ""
        if re.fullmatch(r"L\.\d{4}\.\d{2}", number):
            continue
        found = re.fullmatch(r"(\d{4})\.(\d{2})\.(\d{3})-([A-Z])", number)
        if not found:
            wrong.append(f"row {place}: {number!r} is no accession number")
        elif found[4] != letter(found[1] + found[2] + found[3]):
            wrong.append(f"row {place}: the check letter of {number} is wrong")
    if wrong:
        print("\n".join(wrong))
        return 1
    numbers = "\n".join(row[0] for row in rows[1:])
    print("register ok, seal:", hashlib.sha256(numbers.encode()).hexdigest()[:8])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
