# also: moved, people
# Tuesday at half past one, when one of them is at the dentist.
curl -sSf -o /dev/null -X PATCH localhost:8026/events/lighting-review -d start=2026-03-10T13:30 -d end=2026-03-10T15:00
