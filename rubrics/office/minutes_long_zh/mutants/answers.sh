# One meeting without a quorum is overlooked.
python3 - <<'PY'
import json
path = 'results/answers.json'
with open(path, encoding="utf-8") as f:
    data = json.load(f)
data['不能表决的会议'] = data['不能表决的会议'][:1]
with open(path, "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, indent=2)
PY
