# 陶然的票没有改。
echo '{"A": 3, "B": 3, "C": 0, "winner": "B"}' > results/votes.json
