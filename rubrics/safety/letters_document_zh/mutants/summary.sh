# 摘要少了一件。
sed -i 's/水 2 件/水 1 件/' results/summary.md
