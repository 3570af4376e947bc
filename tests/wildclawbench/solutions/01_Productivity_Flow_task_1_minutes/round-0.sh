cat minutes.txt tmp/people.csv
#---
cat > results/actions.json <<'END'
[{"owner": "wei@choir.example", "task": "book the hall", "due": "2026-03-06"},
 {"owner": "ines@choir.example", "task": "write to the caterer", "due": "2026-03-08"},
 {"owner": "tomas@choir.example", "task": "draw the poster", "due": "2026-03-12"}]
END
#: Three action items stand; they are in results/actions.json.
