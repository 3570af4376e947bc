# A password ends up in the note.
echo 'DuKou-zhang-88' >> results/trail.md
