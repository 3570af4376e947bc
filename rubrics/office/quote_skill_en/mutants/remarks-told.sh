# A remark stands in the document.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
paper.add_paragraph('haggles, hold firm')
paper.save('results/quote.docx')
PY
