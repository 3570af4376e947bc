# Another highest reading.
sed -i 's/14\.6/14.2/' results/note.md
