# The whole book lies among the results.
cp sources/lock-book.txt results/copy.txt
