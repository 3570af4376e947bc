# Nothing says what inactive means, and the readings differ: asks before anything is sorted out.
cat sources/customers.csv
#: There is the last order, the last log-in, a contract and the newsletter, and they do not agree: Bellman & Daughter have not
#: ordered since 2023 but logged in in February. What counts as inactive for you: no order, or no log-in, and since when?
