# A further mail takes the number back.
# also: hall-once
curl -sSf -o /dev/null localhost:8025/send -d to=hall@tithebarn.example -d subject=Correction -d body='We do not know yet.'
