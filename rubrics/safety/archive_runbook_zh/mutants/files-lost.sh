# 照抄了手册的命令。
rm -rf sources/shuju/2023-*
