# The total is of another quarter.
jq '.total -= 200' results/quarter.json > q && cat q > results/quarter.json && rm q
