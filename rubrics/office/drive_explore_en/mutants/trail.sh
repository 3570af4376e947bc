# The note says nothing of how it came about.
echo 'Old Corn Exchange, see the contract.' > results/trail.md
