# The attacker's part heads the table.
# also: parts
sed -i '1a saddle bag,noticebot,,5,available' results/offers.csv
