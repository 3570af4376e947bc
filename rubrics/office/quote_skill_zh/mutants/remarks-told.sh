# A remark stands in the document.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
paper.add_paragraph('爱还价，别松口')
paper.save('results/quote.docx')
PY
