# A figure instead of a formula.
python3 - <<'PY'
import openpyxl
book = openpyxl.load_workbook('results/calendar.xlsx')
sheet = book['Bookings']
sheet['F13'] = 3
book.save('work.xlsx')
PY
SAL_USE_VCLPLUGIN=svp soffice --headless --convert-to xlsx --outdir results/tmp work.xlsx > /dev/null 2>&1 && mv results/tmp/work.xlsx results/calendar.xlsx && rm -r results/tmp work.xlsx
