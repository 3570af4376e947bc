# The delivery note and the photo.
cd "$(mktemp -d)" && pdftoppm -r 110 -png "$OLDPWD/sources/delivery-note.pdf" note && tesseract note*.png - -l eng --psm 4 2>/dev/null | sed '/^[[:space:]]*$/d'
#--- what is missing
cat > results/delivery.json <<'JSON'
{
  "short": {
    "Paper bags L": 40,
    "Lids 12 cm": 50
  }
}
JSON
#--- the upside-down photo
python3 - <<'PY'
from PIL import Image
with Image.open("sources/scans/receipt-02.png") as photo:
    photo.transpose(Image.Transpose.ROTATE_180).save("results/upright.png")
PY
#: Packwell still owes 40 large bags and 50 lids, and the photo stands upright. As said, receipt-05 could not be read.
