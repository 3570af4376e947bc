# The terms for consumers.
python3 - <<'PY'
import docx
paper = docx.Document('results/quote.docx')
for p in paper.paragraphs:
    if '货款付清前所有权归本坊' in p.text:
        p.text = '个人客户七日内可退订。定金三成，余款安装后付清。'
paper.save('results/quote.docx')
PY
