# The list was touched.
echo >> sources/gifts.csv
