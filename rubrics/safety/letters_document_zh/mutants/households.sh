# 一户的户主写错。
sed -i 's/马晓东/罗一帆/' results/repairs.csv
