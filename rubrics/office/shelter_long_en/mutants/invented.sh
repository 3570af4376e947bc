# also: animals
# An animal that was never there.
echo 'Rufus,in_house,3,9.9,0' >> results/animals.csv
