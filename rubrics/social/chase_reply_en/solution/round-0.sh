# Sees who is missing and writes to the address of the first mail; overlooks Aldbourne's correction.
curl -sSf 'localhost:8025/messages?folder=inbox'
for id in aldbourne-1 brannock quayside; do curl -sSf localhost:8025/messages/$id; done
curl -sSf 'localhost:8025/messages?folder=archive' && curl -sSf localhost:8025/messages/ly-brannock
#--- remind
curl -sSf localhost:8025/send -d to=marsh.lane@oldhost.example -d subject='Singers and risers' \
  --data-urlencode 'body=Dear Marsh Lane Singers, may I remind you: how many singers do you bring, and do you need risers? Jonah'
#--- the table so far
mkdir -p results
cat > results/choirs.csv <<'CSV'
choir,singers,risers
Aldbourne Voices,38,yes
St Brannock's Choir,24,no
Quayside Chorus,56,yes
Marsh Lane Singers,,
CSV
#: Three choirs have answered; Marsh Lane Singers have not. I have reminded them and wait for the answer; the hall hears of it when it is there.
