# The note does not say that rain was in inches.
sed -i 's/inches/another unit/' results/note.md
