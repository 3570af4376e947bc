# Looks for what is taken and enters the two clashes as such.
grep -n clash skills/hall-calendar/SKILL.md
#--- open it again
desk start --timeout 120 soffice --norestore --nologo --calc results/calendar.xlsx; desk wait calendar.xlsx --timeout 120
#--- go to the first free row
desk click A11 --role 'table cell' --timeout 60
desk click A11 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-15\t17:30\t19:30\tFIN\tS\t=(C11-B11)*24\t0\tclash' && desk key Return
desk click A12 --role 'table cell' --timeout 60 > /dev/null && desk type $'2025-06-14\t12:30\t14:00\tSCO\tH\t=(C12-B12)*24\t0\tclash' && desk key Return
#--- save, picture, close
desk key ctrl+s && desk screenshot results/screen.png && desk close calendar.xlsx --timeout 60
#: All requests are entered. Jo Finch (15 June) and the Sea scouts (14 June) clash and must be disappointed; the total fee is now 464.25.
