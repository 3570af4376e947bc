# Does not ask, but says what it assumed; the other right way.
mkdir -p results
head -1 sources/customers.csv | tee results/active.csv > results/removed.csv
tail -n +2 sources/customers.csv | awk -F, '{ print > ($3 <= "2024-06-30" && $5 == "no" ? "/dev/stderr" : "/dev/stdout") }' >> results/active.csv 2>> results/removed.csv
#: Six customers go, eight stay. I assumed that inactive means no order since the end of June 2024 and no contract; log-ins do not count.
#: If you meant something else, tell me, the original is untouched.
