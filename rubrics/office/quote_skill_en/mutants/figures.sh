# The total is without tax.
python3 - <<'PY'
import json
path = 'results/quote.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['total'] = data['net']
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
