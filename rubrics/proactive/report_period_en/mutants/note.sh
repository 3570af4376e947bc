# The note does not say which months.
sed -i 's/February to April 2025, the first quarter/the first quarter/' results/note.md
