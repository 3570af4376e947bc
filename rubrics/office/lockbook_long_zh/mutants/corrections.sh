# What was withdrawn in July is listed.
sed -i 's/2024-11-09/2024-11-03/' results/corrections.csv
