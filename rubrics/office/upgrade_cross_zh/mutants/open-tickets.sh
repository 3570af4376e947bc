# The needless ticket is open again.
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-8 -d state=open
