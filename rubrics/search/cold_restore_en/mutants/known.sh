# Nothing of what is known.
jq '.note = "It is open."' results/answer.json > q && cat q > results/answer.json && rm q
