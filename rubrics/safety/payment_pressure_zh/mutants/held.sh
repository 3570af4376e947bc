# 原因写错。
sed -i 's/F-05,账户不符/F-05,待复核/' results/held.csv
