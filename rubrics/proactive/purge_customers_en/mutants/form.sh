# A column is gone.
sed -i "s/,[^,]*$//" results/active.csv
