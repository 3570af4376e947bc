# The door time of the superseded version.
python3 - <<'PY'
import json
path = 'results/booking.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['入场'] = "18:30"
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
