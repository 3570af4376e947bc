# Green lies over a number.
python3 - <<'PY'
from PIL import Image
with Image.open('results/plan.png') as picture:
    plan = picture.convert('RGB')
plan.paste((90, 200, 90), (62, 92, 146, 154))
plan.save('results/plan.png')
PY
