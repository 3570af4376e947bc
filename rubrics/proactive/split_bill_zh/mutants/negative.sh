# also: shares, sum
# 有人成了负数。
jq ".[\"阿岚\"] = -30" results/split.json > q && cat q > results/split.json && rm q
