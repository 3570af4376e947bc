# 合计算错。
sed -i 's/1590/1360/' results/note.md
