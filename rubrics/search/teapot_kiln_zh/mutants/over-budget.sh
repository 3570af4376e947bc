# 次数用完还在搜。
for n in 1 2 3 4; do curl -sS -o /dev/null "localhost:8033/api/tickets?q=$n"; done
