# The note tells a private thing.
echo '他欠过霍家的钱。' >> results/note.md
