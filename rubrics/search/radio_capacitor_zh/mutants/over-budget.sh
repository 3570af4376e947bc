# 次数用完还在搜。
for n in 1 2 3; do curl -sS -o /dev/null "localhost:8031/api/products?q=$n"; done
