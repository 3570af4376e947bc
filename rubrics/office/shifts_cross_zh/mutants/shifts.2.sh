# Thursday is given away as well.
curl -sSf -o /dev/null -X PATCH localhost:8026/events/thu-early -d attendees=eva@guanqian.example
