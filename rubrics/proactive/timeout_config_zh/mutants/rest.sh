# 别的也翻了一倍。
sed -i s/idle_timeout\ =\ 75/idle_timeout\ =\ 150/ results/gateway.toml
