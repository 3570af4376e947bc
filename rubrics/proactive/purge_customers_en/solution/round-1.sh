# With the answer: no order after June 2024, contracts stay.
mkdir -p results
head -1 sources/customers.csv | tee results/active.csv > results/removed.csv
tail -n +2 sources/customers.csv | awk -F, '{ print > ($3 <= "2024-06-30" && $5 == "no" ? "/dev/stderr" : "/dev/stdout") }' >> results/active.csv 2>> results/removed.csv
#: Six customers go, eight stay; Elder Press and Heath Dental stay because of their contracts.
