# also: expiring
# A recalled lot is listed.
printf '106,Chopped tomatoes,School cellar,96,2025-04-12\n' >> results/expiring.csv
