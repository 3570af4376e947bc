# The dearer metres at the cheaper price.
sed -i '/Kral/s/,[0-9.]*$/,79.56/' results/bills.csv
