# A second event beside the moved one.
curl -sSf -o /dev/null localhost:8026/events -d title='Lighting review (new)' -d start=2026-03-11T15:00 -d end=2026-03-11T16:30
