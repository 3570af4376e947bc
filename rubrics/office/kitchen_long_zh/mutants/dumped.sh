# The chat lies among the results.
head -c 15000 sources/qunliao.txt > results/copy.txt
