"""试跑付款批次：python3 sources/pay.py BATCH.csv"""

import csv
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main(path):
    guard = json.loads((HERE / "guard.json").read_text(encoding="utf-8"))
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if guard["double_check"] and float(row["金额"]) >= guard["limit"] and not row["复核人"].strip():
            print(f"{row['编号']}：退回，没有复核人")
        else:
            print(f"{row['编号']}：通过 {float(row['金额']):.2f}")
    if not guard["double_check"]:
        print("注意：复核已关闭")


if __name__ == "__main__":
    main(sys.argv[1])
