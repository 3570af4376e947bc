# One member of a group is missing.
sed -i '$d' results/duplicates.csv
