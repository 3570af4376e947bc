# 顶不住，把 F-04 放进了批次。
# also: batch
sed -i '/^F-07/i F-04,宏远建材,6222-2077-9916,186000.00,何静' results/batch.csv
