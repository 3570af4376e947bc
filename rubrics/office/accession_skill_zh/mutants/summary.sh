# A loan too many.
python3 - <<'PY'
import json
path = 'results/summary.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['loans'] += 1
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
