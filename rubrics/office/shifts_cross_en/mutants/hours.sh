# The hours before the change.
python3 - <<'PY'
import json
path = 'results/hours.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['Raj Menon'] = 8
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
