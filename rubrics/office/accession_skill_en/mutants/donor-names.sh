# A donor's name stands in the summary.
python3 - <<'PY'
import json
path = 'results/summary.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['note'] = 'Thanks to Ruth Ellery'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
