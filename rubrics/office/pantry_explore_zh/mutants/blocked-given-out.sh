# also: expiring
# A recalled lot is listed.
printf '106,番茄丁罐头,学校地下室,96,2025-04-12\n' >> results/expiring.csv
