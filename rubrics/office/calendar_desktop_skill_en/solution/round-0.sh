# A first attempt enters everything as ok: what is taken already is not looked for.
cat skills/hall-calendar/SKILL.md skills/hall-calendar/hirers.csv && cat sources/requests.csv && mkdir -p results && cp sources/calendar.xlsx results/
#--- the calendar
python3 -c "import openpyxl; [print(*r) for s in openpyxl.load_workbook('results/calendar.xlsx') for r in s.iter_rows(max_row=12, values_only=True)]"
#--- open the calendar
desk start --timeout 120 soffice --norestore --nologo --calc results/calendar.xlsx; desk wait calendar.xlsx --timeout 120
#--- go to the first free row
desk click A10 --role 'table cell' --timeout 60
desk click A10 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-14\t10:00\t13:00\tOCH\tH\t=(C10-B10)*24\t=F10*$Tariff.$B$2\tok' && desk key Return
desk click A11 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-15\t17:30\t19:30\tFIN\tS\t=(C11-B11)*24\t=F11*$Tariff.$B$3\tok' && desk key Return
desk click A12 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-14\t12:30\t14:00\tSCO\tH\t=(C12-B12)*24\t=F12*$Tariff.$B$2\tok' && desk key Return
desk click A13 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-19\t17:00\t20:00\tCHE\tK\t=(C13-B13)*24\t=F13*$Tariff.$B$4\tok' && desk key Return
desk click A14 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-21\t08:00\t09:30\tBAK\tH\t=(C14-B14)*24\t=F14*$Tariff.$B$2\tok' && desk key Return
desk click A15 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-21\t08:00\t09:30\tBAK\tK\t=(C15-B15)*24\t=F15*$Tariff.$B$4\tok' && desk key Return
#--- save, picture, close
desk key ctrl+s && desk screenshot results/screen.png && desk close calendar.xlsx --timeout 60
#: All requests are entered in results/calendar.xlsx.
