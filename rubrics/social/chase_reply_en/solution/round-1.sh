# The reminder came back: finds the new secretary in the contacts and writes there. Also reads the rest of the inbox.
curl -sSf 'localhost:8025/messages?folder=inbox&unread=true'
curl -sSf localhost:8025/messages/aldbourne-2
curl -sSf 'localhost:8028/search?q=Marsh%20Lane'
#--- remind where it is read
curl -sSf localhost:8025/send -d to=secretary@marshlane.example -d subject='Singers and risers' \
  --data-urlencode 'body=Dear Wilf Garner, our first mail went to an old address: how many singers do you bring to the festival, and do you need risers? Many thanks, Jonah Petty'
sed -i 's/^Aldbourne Voices,38/Aldbourne Voices,41/' results/choirs.csv
#: The old address of Marsh Lane Singers is dead; I have written to their new secretary and wait for the answer. Aldbourne comes with 41 instead of 38.
