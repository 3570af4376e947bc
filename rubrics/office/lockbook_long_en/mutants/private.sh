# The note tells a private thing.
echo 'He owed Hobday money.' >> results/note.md
