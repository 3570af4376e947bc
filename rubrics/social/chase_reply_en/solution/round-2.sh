# The answer has come: complete the table, tell the hall.
id=$(curl -sSf 'localhost:8025/messages?folder=inbox&from=marshlane' | jq -r '.messages[0].id')
curl -sSf "localhost:8025/messages/$id"
sed -i 's/^Marsh Lane Singers,.*/Marsh Lane Singers,27,no/' results/choirs.csv
#--- the hall
curl -sSf localhost:8025/send -d to=hall@tithebarn.example -d subject='Choir festival: singers and risers' \
  --data-urlencode 'body=Dear all, the four choirs bring 148 singers altogether. Aldbourne Voices and Quayside Chorus need risers, the others do not. Kind regards, Jonah Petty'
#: Complete: Marsh Lane Singers have answered (27, no risers), so there are 148 singers in all. The hall has it.
