# Takes the first table it finds.
curl -sSf 'localhost:8034/api/search?q=snapshots&version=3.2'
#--- the pages
curl -sSf localhost:8034/raw/3.2/retention
curl -sSf localhost:8034/raw/3.2/plans
#--- write
mkdir -p results
cat > results/answer.json <<'JSON'
{"settled": true, "answer": {"limit": 120, "setting": "keep_snapshots"},
 "sources": ["http://localhost:8034/v/3.2/retention", "http://localhost:8034/v/3.2/plans"],
 "note": "The table of the plans gives the number for Team."}
JSON
#: 120 snapshots per volume, entered as keep_snapshots.
