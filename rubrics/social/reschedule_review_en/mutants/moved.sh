# Everybody is free, but it is an hour shorter.
curl -sSf -o /dev/null -X PATCH localhost:8026/events/lighting-review -d end=2026-03-11T15:30
