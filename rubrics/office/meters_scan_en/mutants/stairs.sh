# A bar is misread.
python3 - <<'PY'
import json
path = 'results/stairs.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['7'] = 20
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
