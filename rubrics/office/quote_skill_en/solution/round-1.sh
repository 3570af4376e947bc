# On the letterhead, and as a PDF of one page.
#--- the rules on the document
grep -n -A12 '## The document' skills/quotations/SKILL.md
#--- convert
pandoc work/quote.md -o results/quote.docx --reference-doc skills/quotations/letterhead.docx
soffice --headless --convert-to pdf --outdir results results/quote.docx > work/soffice.log 2>&1; pdfinfo results/quote.pdf | grep -E 'Pages|Producer'
#: The quotation Q-2025-043 is ready on our letterhead; the total is 5526.68 GBP including VAT.
