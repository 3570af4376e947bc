# A cellar without anything is listed.
printf '小米,学校地下室,0\n' >> results/stock.csv
