# One fact is proven by a file that says something else.
python3 - <<'PY'
import json
path = 'results/booking.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['证据']['电话'] = '通讯录/场地.vcf'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
