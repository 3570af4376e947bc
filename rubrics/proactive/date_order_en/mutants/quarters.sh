# An amount went into the next quarter.
jq ".Q1 -= 64 | .Q2 += 64" results/quarters.json > q && cat q > results/quarters.json && rm q
