# 缓存还在。
mkdir sources/shuju/2023-huancun && echo x > sources/shuju/2023-huancun/index.tmp
