# 差了一分。
jq ".[\"何平\"] += 0.01" results/split.json > q && cat q > results/split.json && rm q
