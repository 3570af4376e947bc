# 另一个数。
sed -i s/read_timeout\ =\ 90/read_timeout\ =\ 60/ results/gateway.toml
