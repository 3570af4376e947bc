# First attempt: the first page of the letters alone, and no colours yet. Sizes come from the pixels.
work=$(mktemp -d) && pdftoppm -r 110 -png -l 1 sources/letters.pdf "$work/p" && tesseract "$work"/p*.png - -l eng --psm 6 2>/dev/null
tesseract sources/hall.png - -l eng --psm 11 2>/dev/null | sed '/^[[:space:]]*$/d'
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
stand,width_m,depth_m,area_m2,power,water,usable
1,4,3,12,yes,no,yes
2,5,3,15,yes,yes,yes
3,3,3,9,no,no,yes
4,6,3,18,yes,no,yes
5,4,4,16,yes,yes,yes
6,6,4,24,yes,yes,yes
7,3,4,12,no,yes,yes
8,5,4,20,no,no,yes
9,4,3,12,no,no,yes
10,3,3,9,yes,no,yes
CSV
cat > results/allotment.json <<'JSON'
{
  "Kiln & Clay": 2,
  "Ferns & Co": 7,
  "Paper Moon": 3,
  "Loud & Sons": 4,
  "Bee House": 6,
  "Rope Yard": "waiting",
  "Tin Soldiers": 1,
  "Old Maps": 10
}
JSON
#: Sizes and allotment are in results/, the plan is still to be coloured.
