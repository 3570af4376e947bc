# The total is off by ten.
python3 - <<'PY'
import json
path = 'results/claim.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data["total_eur"] += 10
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
