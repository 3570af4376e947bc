# 没有合计一行。
# also: kept, told
sed -i '$d' sources/gongxiang/2025-05-huizong-mendian.csv
