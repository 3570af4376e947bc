# 说明里没有旧值。
echo "orders 的 read_timeout 改到 90" > results/changes.md
