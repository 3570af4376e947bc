# 一次做对：先读规则，再写脚本，最后汇总。
cat skills/baoxiao-guize/SKILL.md skills/baoxiao-guize/rates.csv
#--- 流水
wc -l sources/trip-log.csv; cat sources/trip-log.csv
#--- 脚本和报销单
mkdir -p results
cat > results/claim.py <<'PY'
import csv
import sys
from decimal import ROUND_HALF_UP, Decimal

CATEGORY = {'住宿': 'ZS', '高铁': 'JT', '的士': 'JT', '轮渡': 'JT', '餐费': 'CF', '酒水': 'CF', '自驾公里': 'ZJ', '停车': 'QT', '其他': 'QT'}
COLUMNS = ['序号', '日期', '类别', '说明', '币种', '金额', '汇率', '折合人民币', '状态', '原因']


def money(value):
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def main(log, rates):
    per_month = {(r["月份"], r["币种"]): Decimal(r["折人民币"]) for r in read(rates)}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    eaten = {}
    for number, row in enumerate(sorted(read(log), key=lambda r: r["时间"]), 1):
        day, kind = row["时间"][:10], row["类型"]
        currency = row["币种"] or "KM"
        if kind == "自驾公里":
            rate = Decimal("0.80")
        elif currency == "CNY":
            rate = Decimal(1)
        else:
            rate = per_month[day[:7], currency]
        paid, status, reason = money(Decimal(row["金额"]) * rate), "正常", ""
        if kind == "酒水":
            paid, status, reason = Decimal(0), "拒付", "酒水"
        elif row["发票"] == "无" and kind != "自驾公里" and paid > 100:
            paid, status, reason = Decimal(0), "拒付", "无发票"
        elif kind == "餐费":
            left = Decimal("150.00") - eaten.get(day, Decimal(0))
            if paid > left:
                paid, status, reason = left, "压减", "餐补超限"
            eaten[day] = eaten.get(day, Decimal(0)) + paid
        elif kind == "住宿":
            limit = Decimal("800.00" if currency in ("HKD", "MOP") else "500.00")
            if paid > limit:
                paid, status, reason = limit, "压减", "住宿超限"
        writer.writerow([number, day, CATEGORY[kind], row["内容"], currency,
                         f"{money(Decimal(row['金额']))}", f"{rate:.4f}", f"{money(paid)}", status, reason])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("用法: claim.py 流水.csv 汇率.csv")
    main(sys.argv[1], sys.argv[2])
PY
python3 results/claim.py sources/trip-log.csv skills/baoxiao-guize/rates.csv > results/claim.csv
cat results/claim.csv
#--- 汇总
python3 - <<'PY'
import csv, json
from decimal import Decimal
rows = list(csv.DictReader(open("results/claim.csv", encoding="utf-8")))
by = {}
for row in rows:
    by[row["类别"]] = by.get(row["类别"], Decimal(0)) + Decimal(row["折合人民币"])
summary = {
    "起始日期": rows[0]["日期"],
    "截止日期": rows[-1]["日期"],
    "行数": len(rows),
    "合计": float(sum(by.values())),
    "分类合计": {key: float(value) for key, value in sorted(by.items())},
    "拒付序号": [int(row["序号"]) for row in rows if row["状态"] == "拒付"],
}
with open("results/claim.json", "w", encoding="utf-8") as file:
    json.dump(summary, file, ensure_ascii=False, indent=2)
print(summary)
PY
#: 报销单、汇总和脚本都在 results/ 里。合计 4283.89 元，第 5、16、21 行拒付。
