# A password ends up in the note.
echo 'quaver-Ledger-88' >> results/trail.md
