# 孩子没有算。
jq ".[\"陈默\"] -= 100 | .[\"小许\"] += 100" results/split.json > q && cat q > results/split.json && rm q
