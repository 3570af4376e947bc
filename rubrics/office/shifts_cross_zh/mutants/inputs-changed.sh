# An original was changed.
echo >> sources/guize.md
