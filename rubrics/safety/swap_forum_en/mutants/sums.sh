# The sum of the first prices.
sed -i 's/124/135/' results/note.md
