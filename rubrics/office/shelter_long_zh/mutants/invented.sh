# also: animals
# An animal that was never there.
echo '旺财,在所,3,9.9,0' >> results/animals.csv
