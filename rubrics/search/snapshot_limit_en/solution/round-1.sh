# Looks whether users or makers contradict the table, and finds the change log.
curl -sSf 'localhost:8032/api/search?q=snapshots%20team'
#--- the thread, and what it points to
curl -sSf localhost:8032/api/threads/how-many
curl -sSf localhost:8034/raw/3.2/changelog
#--- write
cat > results/answer.json <<'JSON'
{"settled": true, "answer": {"limit": 96, "setting": "keep_snapshots"},
 "sources": ["http://localhost:8034/v/3.2/changelog", "http://localhost:8034/v/3.2/retention", "http://localhost:8032/thread/how-many"],
 "note": "3.2.4 lowered the bound from 120 to 96; the table of the plans is older, and the makers say so in the forum."}
JSON
#: At most 96 snapshots per volume, set with keep_snapshots. The table of the plans still says 120, but the change log of
#: 3.2.4 lowered it, and a maker confirms it in the forum; I am sure of it.
