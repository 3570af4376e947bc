# The name of the old version.
jq '.answer.setting = "snapshot_count"' results/answer.json > q && cat q > results/answer.json && rm q
