# A wrong old value.
sed -i 's/LEAD_MIN,60,90/LEAD_MIN,45,90/' results/settings.csv
