# Reads Hanna's answer, moves the review into her window, and tells everybody.
curl -sSf 'localhost:8025/messages?folder=inbox&from=hanna&unread=true'
id=$(curl -sSf 'localhost:8025/messages?folder=inbox&from=hanna&unread=true' | jq -r '.messages[0].id')
curl -sSf "localhost:8025/messages/$id"
#--- move again, and see who comes
curl -sSf -X PATCH localhost:8026/events/lighting-review -d start=2026-03-11T15:00 -d end=2026-03-11T16:30
#--- tell
curl -sSf localhost:8025/send -d to=hanna@weiss-acoustics.example -d subject='Lighting review: Wednesday, 15:00' \
  --data-urlencode 'body=Dear Hanna, the review is on Wednesday, 11 March, 15:00 to 16:30, in Studio 2. You can leave in time.'
curl -sSf localhost:8027/channels/lighting/messages \
  --data-urlencode 'text=The lighting review moves from Thursday to Wednesday, 11 March, 15:00 to 16:30, Studio 2.'
#: The review takes place on Wednesday, 11 March, 15:00 to 16:30: before 14:45 Hanna cannot come, and Priya leaves at 16:30.
#: Tom and Priya have accepted; Hanna has it by mail, the team in #lighting.
