# The ledger was touched.
printf x >> sources/taizhang.xlsx
