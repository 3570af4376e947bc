# The second page, and the colours.
work=$(mktemp -d) && pdftoppm -r 110 -png -f 2 sources/laixin.pdf "$work/p" && tesseract "$work"/p*.png - -l chi_sim --psm 6 2>/dev/null
#--- allot again
cat > results/stands.csv <<'CSV'
展位,宽,深,面积,电,水,可用
1,4,3,12,是,否,是
2,5,3,15,是,是,是
3,3,3,9,否,否,是
4,6,3,18,是,否,是
5,4,4,16,是,是,否
6,6,4,24,是,是,是
7,3,4,12,否,是,是
8,5,4,20,否,否,是
9,4,3,12,否,否,是
10,3,3,9,是,否,是
CSV
cat > results/allotment.json <<'JSON'
{
  "窑土坊": 2,
  "蕨园": 6,
  "纸月亮": 3,
  "响声父子": 4,
  "蜂房": 7,
  "绳场": "等候",
  "锡兵": 1
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
#: 第二页也算进去了：蕨园分到 6 号，旧地图不来。绳场要等候，8、9、10 号还可以出租。图已涂好。
