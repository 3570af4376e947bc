# Only the forum is named.
jq '.sources = ["http://localhost:8032/thread/cold-speed"]' results/answer.json > q && cat q > results/answer.json && rm q
