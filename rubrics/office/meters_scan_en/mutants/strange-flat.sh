# A bill for the cellar.
echo 'cellar,1.00,0.00,1.00' >> results/bills.csv
