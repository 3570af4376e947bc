# The terms for consumers.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
for p in paper.paragraphs:
    if 'Title passes on full payment' in p.text:
        p.text = 'Consumers may withdraw within 14 days. Payment: one third on order, the rest after fitting.'
paper.save('results/quote.docx')
PY
