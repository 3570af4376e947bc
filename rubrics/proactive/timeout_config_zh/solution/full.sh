# 没有问，但说明了假设；这也算对。
mkdir -p results
sed '/^\[upstream.orders\]/,/^\[upstream.reports\]/s/^read_timeout = 30 /read_timeout = 90 /' sources/gateway.toml > results/gateway.toml
diff sources/gateway.toml results/gateway.toml
echo 'upstream.orders 的 read_timeout（下单读超时）从 30 秒改到 90 秒，其他未动。' > results/changes.md
#: 您没说是哪一项、调到多少，我假设是 orders（下单）的读超时，从 30 秒改到 90 秒，其他没有动。
#: 如果不是这一项或不是这个数，上线前请告诉我。
