# The ledger was touched.
printf x >> sources/ledger.xlsx
