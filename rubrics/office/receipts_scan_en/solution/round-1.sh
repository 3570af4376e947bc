# Takes the guess back; the delivery note is still unread and the photo not turned.
#--- the table without the guess
mkdir -p results
cat > results/receipts.csv <<'CSV'
file,supplier,date,total,vat,status
receipt-01.png,Northgate Mill,2025-02-03,148.60,0.00,read
receipt-02.png,Dale Dairy,2025-02-05,63.45,0.00,read
receipt-03.png,Packwell Ltd,2025-02-11,92.16,15.36,read
receipt-04.png,City Gas,2025-02-14,211.07,10.05,read
receipt-05.png,Orchard Lane Eggs,2025-02-18,,,unreadable
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
    "supplier": "Orchard Lane Eggs",
    "kind": "unreadable",
    "receipt": "",
    "ledger": "36.40"
  },
  {
    "supplier": "Harbour Fish",
    "kind": "no_receipt",
    "receipt": "",
    "ledger": "54.00"
  }
]
JSON
#: I had taken one total from the ledger. receipt-05 (Orchard Lane Eggs) is stained and cannot be read, so it is now
#: marked unreadable. The delivery note and the upside-down photo I have yet to look at.
