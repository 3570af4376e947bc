# A name that is not cut.
sed -i 's/BIRD SEED\.*/BIRD SEED/' results/labels.txt
