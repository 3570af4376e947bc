# A choir that has answered is reminded too.
curl -sSf -o /dev/null localhost:8025/send -d to=edith@stbrannock.example -d subject=Reminder -d body='How many?'
