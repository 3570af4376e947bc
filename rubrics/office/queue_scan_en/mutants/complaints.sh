# The wrong letter is right.
python3 - <<'PY'
import json
path = 'results/complaints.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data[0]['justified'] = True
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
