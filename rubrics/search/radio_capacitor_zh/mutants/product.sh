# 缺货的那一件。
jq '.answer.product = "E-100160A"' results/answer.json > q && cat q > results/answer.json && rm q
