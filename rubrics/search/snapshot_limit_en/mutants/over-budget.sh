# Searches until it is refused, and once more.
for n in 1 2 3 4; do curl -sS -o /dev/null "localhost:8034/api/search?q=limit$n"; done
