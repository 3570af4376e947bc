# The contact who has left.
python3 - <<'PY'
import json
path = 'results/booking.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['contact_name'] = 'Marian Stokes'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
