# One of the open dates is read the other way.
sed -i s/2025-03-04_05/2025-04-03_05/ results/renamed.csv
