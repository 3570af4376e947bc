# A supplier learns of it as well.
curl -sSf -o /dev/null localhost:8025/send -d to=sales@ropes-and-rigs.example -d subject=Review -d body='It is on Wednesday.'
