# 原件被覆盖。
cp results/gateway.toml sources/gateway.toml
