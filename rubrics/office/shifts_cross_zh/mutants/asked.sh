# One of the questions is taken back.
id=$(curl -sSf localhost:8027/dm/raj | jq -r '[.messages[] | select(.from == "ada")][-1].id')
curl -sSf -o /dev/null -X DELETE "localhost:8027/messages/$id"
