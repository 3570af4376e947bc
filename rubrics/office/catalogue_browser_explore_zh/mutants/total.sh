# The total before the discount.
python3 - <<'PY'
import json
path = 'results/choice.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['total'] = 186.0
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
