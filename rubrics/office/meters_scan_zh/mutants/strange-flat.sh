# A bill for the cellar.
echo '地下室,1.00,0.00,1.00' >> results/bills.csv
