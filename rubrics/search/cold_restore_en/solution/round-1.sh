# Looks for what the makers stand by, and finds that they promise nothing.
curl -sSf localhost:8034/raw/2025/service-levels
curl -sSf localhost:8034/raw/2025/glossary
curl -sSf 'localhost:8032/api/search?q=restore%20from%20cold'
curl -sSf localhost:8032/api/threads/cold-speed
#--- write
cat > results/answer.json <<'JSON'
{"settled": false, "answer": null,
 "sources": ["http://localhost:8034/v/2025/service-levels", "http://localhost:8034/v/2025/tier-cold", "http://localhost:8032/thread/cold-speed"],
 "note": "For the cold tier the makers promise the first byte within 12 hours and no speed, so there is no upper bound for 2 TB. Users saw 19 and 41 hours. The makers agree individual figures in writing: ask the account manager."}
JSON
#: There is no figure that you could put into the contract: the service levels promise the first byte within 12 hours and no speed
#: for the cold tier, and the makers say in the forum that they publish none. My 24 hours were a user's rule of thumb, please
#: drop them. A written term from your account manager would settle it.
