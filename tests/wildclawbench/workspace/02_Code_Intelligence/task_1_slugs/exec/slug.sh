read -r title
echo "$title" | tr ' ' '-'
