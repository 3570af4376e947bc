# The summary says nothing.
echo ok > results/summary.md
