# 清单少了一行。
sed -i '$d' results/manifest.csv
