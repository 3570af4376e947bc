# The absent one is still on a shift beside the new person.
curl -sSf -o /dev/null -X PATCH localhost:8026/events/wed-late -d attendees=ana@guanqian.example,tom@guanqian.example
