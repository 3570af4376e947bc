# A selling price was raised in the list of goods.
sed -i 's/0.85/0.95/' sources/goods.csv
