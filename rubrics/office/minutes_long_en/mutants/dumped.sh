# The whole minutes lie among the results.
cp sources/minutes.txt results/minutes-copy.txt
