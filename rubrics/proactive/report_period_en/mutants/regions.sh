# One region's return is forgotten.
jq '.regions.coast += 45.1' results/quarter.json > q && cat q > results/quarter.json && rm q
