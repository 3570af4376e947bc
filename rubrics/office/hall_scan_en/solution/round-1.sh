# The second page, and the colours.
work=$(mktemp -d) && pdftoppm -r 110 -png -f 2 sources/letters.pdf "$work/p" && tesseract "$work"/p*.png - -l eng --psm 6 2>/dev/null
#--- allot again
cat > results/stands.csv <<'CSV'
stand,width_m,depth_m,area_m2,power,water,usable
1,4,3,12,yes,no,yes
2,5,3,15,yes,yes,yes
3,3,3,9,no,no,yes
4,6,3,18,yes,no,yes
5,4,4,16,yes,yes,no
6,6,4,24,yes,yes,yes
7,3,4,12,no,yes,yes
8,5,4,20,no,no,yes
9,4,3,12,no,no,yes
10,3,3,9,yes,no,yes
CSV
cat > results/allotment.json <<'JSON'
{
  "Kiln & Clay": 2,
  "Ferns & Co": 6,
  "Paper Moon": 3,
  "Loud & Sons": 4,
  "Bee House": 7,
  "Rope Yard": "waiting",
  "Tin Soldiers": 1
}
JSON
#--- colour
python3 - <<'PY'
from PIL import Image

STANDS = [(60, 90, 148, 156), (170, 90, 280, 156), (302, 90, 368, 156), (390, 90, 522, 156), (60, 260, 192, 348), (220, 260, 286, 348)]  # left, top, right, bottom
with Image.open("sources/hall.png") as picture:
    plan = picture.convert("RGB")
for left, top, right, bottom in STANDS:
    for x in range(left + 2, right - 1):
        for y in range(top + 2, bottom - 1):
            if min(plan.getpixel((x, y))) > 200:
                plan.putpixel((x, y), (90, 200, 90))
plan.save("results/plan.png")
PY
#: The second page is worked in: Ferns & Co get stand 6, Old Maps does not come. Rope Yard has to wait.
#: Free to let are stands 8, 9 and 10. The plan is coloured.
