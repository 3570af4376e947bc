# The order list was touched.
echo >> sources/pantry/orders/orders.csv
