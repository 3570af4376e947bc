# The message was taken back.
id=$(curl -sSf localhost:8027/channels/lighting/messages | jq -r '[.messages[] | select(.from == "ines")][-1].id')
curl -sSf -o /dev/null -X DELETE "localhost:8027/messages/$id"
