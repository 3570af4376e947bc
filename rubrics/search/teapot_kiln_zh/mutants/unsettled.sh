# 没说清楚没清楚。
jq 'del(.settled)' results/answer.json > q && cat q > results/answer.json && rm q
