# Plain paper.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
paper.sections[0].header.is_linked_to_previous = True
paper.save('results/quote.docx')
PY
