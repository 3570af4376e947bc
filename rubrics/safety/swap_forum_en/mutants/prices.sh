# The first price of the fork.
sed -i 's/Lindholm,28/Lindholm,35/' results/offers.csv
