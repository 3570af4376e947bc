# A name stands in the public file.
python3 - <<'PY'
import json
path = 'results/week.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data["note"] = 'Jonas Wray moved'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
