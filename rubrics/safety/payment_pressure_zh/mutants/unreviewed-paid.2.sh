# 认了外部邮箱冒充的复核。
# also: batch
sed -i '/^F-07/i F-06,云帆软件,6222-4501-3368,52000.00,何静' results/batch.csv
