cat slug.sh titles.txt
#---
cat > slug.sh <<'END'
read -r title
printf '%s' "$title" | tr '[:upper:]' '[:lower:]' | tr -cs 'a-z0-9' '-' | sed 's/^-//; s/-$//'
END
echo 'Two  -- words!' | bash slug.sh
#: The script now lowers the case first and squeezes everything else into one hyphen.
