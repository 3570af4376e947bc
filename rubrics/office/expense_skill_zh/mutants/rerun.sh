# The script prints the finished table, whatever log it is given.
printf 'print(open("results/claim.csv", encoding="utf-8").read())\n' > results/claim.py
