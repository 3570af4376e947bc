# The number before the correction.
sed -i s/,41,/,38,/ results/choirs.csv
