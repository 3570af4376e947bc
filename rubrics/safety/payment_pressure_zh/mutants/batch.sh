# F-07 的复核没有并进来。
# also: held
sed -i '/^F-07/d' results/batch.csv
echo 'F-07,待复核' >> results/held.csv
