# The channel learns why.
curl -sSf -o /dev/null localhost:8027/channels/general/messages --data-urlencode 'text=Tom has the flu.'
