# Finds speeds of other tiers and a user's rule of thumb, and makes a figure of them.
curl -sSf 'localhost:8034/api/search?q=cold%20restore'
curl -sSf localhost:8034/raw/2025/tier-cold
#--- the forum
curl -sSf 'localhost:8032/api/search?q=2%20TB'
curl -sSf localhost:8032/api/threads/sizing
#--- write
mkdir -p results
cat > results/answer.json <<'JSON'
{"settled": true, "answer": {"hours": 24},
 "sources": ["http://localhost:8034/v/2025/tier-cold", "http://localhost:8032/thread/sizing"],
 "note": "Twelve hours for the first byte, and a user's rule of thumb for 2 TB."}
JSON
#: At most 24 hours.
