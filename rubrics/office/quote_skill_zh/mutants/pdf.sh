# Two pages.
pdfunite results/quote.pdf results/quote.pdf results/two.pdf && mv results/two.pdf results/quote.pdf
