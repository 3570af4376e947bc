# The guest is no longer invited.
# set-state: calendar /events/lighting-review/attendees {"tom@harbourlight.example": {"answer": "accepted"}, "priya@harbourlight.example": {"answer": "accepted"}}
true
