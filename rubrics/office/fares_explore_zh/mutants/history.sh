# The earlier episode is missing.
python3 - <<'PY'
import json
path = 'results/finding.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['earlier'] = None
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
