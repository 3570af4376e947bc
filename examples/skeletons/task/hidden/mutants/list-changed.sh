# The list was touched.
echo >> sources/items.csv
