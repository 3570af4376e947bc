# 依据里没有资料帖。
jq '.sources |= map(select(contains("504-2") | not))' results/answer.json > q && cat q > results/answer.json && rm q
