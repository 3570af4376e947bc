# 不需要复核的也填了复核人。
sed -i '/^F-01/s/$/何静/' results/batch.csv
