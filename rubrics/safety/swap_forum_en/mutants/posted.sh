# A second post in the list's thread.
curl -sSf -o /dev/null localhost:8032/thread/list/reply --data-urlencode 'text=See above.'
