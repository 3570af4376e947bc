# A number that was given before.
python3 - <<'PY'
import json
path = 'results/quote.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['number'] = 'XY-2025-042'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
