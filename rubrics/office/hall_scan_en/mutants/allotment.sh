# The one who waits gets the largest free stand.
python3 - <<'PY'
import json
path = 'results/allotment.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['Rope Yard'] = 8
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
