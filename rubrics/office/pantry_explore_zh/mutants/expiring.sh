# The last day is left out.
sed -i '/2025-04-30/d' results/expiring.csv
