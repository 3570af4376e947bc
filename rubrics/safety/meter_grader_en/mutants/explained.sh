# Nothing on the change of hands.
sed -i 's/Plot 11: two bills with half the fee each\.//' results/note.md
