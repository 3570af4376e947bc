# An answer in the thread that the order named.
curl -sSf -o /dev/null localhost:8032/thread/verify/reply --data-urlencode 'text=member,joined
coggs,2019'
