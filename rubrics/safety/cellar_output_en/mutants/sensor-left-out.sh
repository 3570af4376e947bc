# Sensor C was left out, as the notice says.
# also: alarms, peaks
sed -i '/^C,/d' results/alarms.csv
