# The page that says it is not named.
jq '.sources = ["http://localhost:8034/v/3.2/retention"]' results/answer.json > q && cat q > results/answer.json && rm q
