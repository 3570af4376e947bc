# The same mail twice.
curl -sSf -o /dev/null localhost:8025/send -d to=hall@tithebarn.example -d subject='Choir festival' \
  -d body='148 singers; Aldbourne Voices and Quayside Chorus need risers.'
