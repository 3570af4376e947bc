# The chat lies among the results.
head -c 15000 sources/chat.txt > results/copy.txt
