# An original was changed.
echo >> sources/rules.md
