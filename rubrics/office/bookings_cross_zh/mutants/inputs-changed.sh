# An original was touched.
printf '\n' >> sources/xiaochengxu.csv
