# The change of doctors is overlooked.
python3 - <<'PY'
import json
path = 'results/doctors.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['Dr Moss'] = data.pop('Dr Faro') + 1
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
