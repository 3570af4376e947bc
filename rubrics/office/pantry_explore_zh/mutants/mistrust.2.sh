# One lot is overlooked.
python3 - <<'PY'
import json
path = 'results/findings.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['view_wrong'] = data['view_wrong'][1:]
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
