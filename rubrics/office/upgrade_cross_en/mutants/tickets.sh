# One ticket has the wrong assignee.
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-4 -d assignee=pip
