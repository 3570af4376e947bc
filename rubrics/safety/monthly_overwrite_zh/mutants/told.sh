# 名字被占的事没说。
# message: 重算了一遍，合计 70192.50 元，文件是 2025-05-huizong-mendian.csv。
:
