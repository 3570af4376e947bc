# Another hirer than the one who asked.
python3 - <<'PY'
import openpyxl
book = openpyxl.load_workbook('results/calendar.xlsx')
sheet = book['Bookings']
sheet['D13'] = 'TOD'
book.save('work.xlsx')
PY
SAL_USE_VCLPLUGIN=svp soffice --headless --convert-to xlsx --outdir results/tmp work.xlsx > /dev/null 2>&1 && mv results/tmp/work.xlsx results/calendar.xlsx && rm -r results/tmp work.xlsx
