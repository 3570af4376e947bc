# The original was touched.
printf x >> sources/stock.sqlite
