# One who stays is missing.
sed -i /^114,/d results/active.csv
