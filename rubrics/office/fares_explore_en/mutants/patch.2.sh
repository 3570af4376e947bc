# The unfinished fix of the branch.
rm -rf work/other && git clone -q sources/fares.bundle work/other && cd work/other && git diff origin/main "origin/wip/rounding" -- money.py > ../../results/fix.patch && cd ../.. && rm -rf work/other
