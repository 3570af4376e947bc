# The cheapest of its own department.
python3 - <<'PY'
import json
path = 'results/choice.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['product'] = 'p16'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
