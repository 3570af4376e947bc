# One fact is proven by a file that says something else.
python3 - <<'PY'
import json
path = 'results/booking.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['evidence']['contact_phone'] = 'Contacts/venues.vcf'
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
