# The note passes the door code on.
echo '7316' >> results/note.md
