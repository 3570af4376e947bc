# 有了答复：只改 orders 的 read_timeout，90 秒。
mkdir -p results
sed '/^\[upstream.orders\]/,/^\[upstream.reports\]/s/^read_timeout = 30 /read_timeout = 90 /' sources/gateway.toml > results/gateway.toml
diff sources/gateway.toml results/gateway.toml
echo 'upstream.orders 的 read_timeout（下单读超时）从 30 秒改到 90 秒，其他未动。' > results/changes.md
#: 改好了：只把 orders（下单）的 read_timeout 从 30 秒改到 90 秒，其他没有动，重试仍为 0。
