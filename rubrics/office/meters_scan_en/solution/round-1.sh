# The wheel, the red digit, the worksheet; the chart by its pixels; the dark photo.
work=$(mktemp -d) && pdftoppm -r 110 -png -f 2 sources/papers.pdf "$work/p" && tesseract "$work"/p*.png - -l eng --psm 6 2>/dev/null
#--- tables
cat > results/readings.csv <<'CSV'
photo,serial,unit,reading,used
meter-1.png,EL-20417,kWh,4831,304
meter-2.png,EL-20418,kWh,7295,385
meter-3.png,W-7731,m3,164,25
meter-4.png,W-7732,m3,233,32
meter-5.png,EL-31990,kWh,58,58
CSV
cat > results/bills.csv <<'CSV'
flat,electricity,water,total
ground,112.44,105.00,217.44
first,141.60,134.40,276.00
attic,122.88,0.00,122.88
CSV
#--- chart and photo
python3 - <<'PY'
import json
from PIL import Image, ImageOps

with Image.open("sources/stairs.png") as picture:
    chart = picture.convert("RGB")
zero, unit = 410, 7  # pixels, from the axis: 0 at 410, 10 at 340
bars = {}
for month in range(12):
    x = 84 + month * 54 + 17
    height = sum(b > r + 40 for r, g, b in (chart.getpixel((x, y)) for y in range(50, zero + 1)))
    bars[str(month + 1)] = round((height - 1) / unit, 1)
with open("results/stairs.json", "w", encoding="utf-8") as file:
    json.dump(bars, file)
with Image.open("sources/photos/meter-4.png") as photo:
    ImageOps.autocontrast(photo.convert("RGB"), cutoff=1).save("results/bright.png")
PY
#: The ground floor pays 217.44, the first floor 276.00 and the attic 122.88. EL-31990 in the attic is the new meter; the old one's 275 kWh are in its bill.
