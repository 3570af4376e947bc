# A label is missing.
sed -i '$d' results/labels.txt
