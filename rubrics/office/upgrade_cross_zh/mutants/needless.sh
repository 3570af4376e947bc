# A closed contract gets a ticket.
curl -sSf localhost:8033/api/tickets --data-urlencode 'title=C-03：迁移到 3.0' -d description=- > /dev/null
