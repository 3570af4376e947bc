# Reads the chat, but takes the owner alone for the one who decides; no note yet.
head -c 25000 sources/chat.txt
#--- on
tail -c +25001 sources/chat.txt
#--- mend
cat > results/spec.csv <<'CSV'
item,status,choice,price,agreed_on
worktop,agreed,oak,1215,2025-01-22
tap,agreed,black,199,2025-03-15
sink,agreed,white,310,2025-03-25
floor,agreed,cork,589,2025-03-09
hob,dropped,,,
lamps,agreed,two pendants,150,2025-02-18
handles,agreed,leather,126,2025-02-18
walls,open,,,
window sill,open,,,
extractor,dropped,,,
splashback,open,,,
CSV
cat > results/answers.json <<'JSON'
{
  "rises_allowed": [
    "2025-01-20",
    "2025-03-09"
  ],
  "deputy": [
    "Effie",
    "2025-04-05",
    "2025-04-19"
  ],
  "rise_without_yes": {},
  "works": [
    "2025-03-17",
    "2025-05-28"
  ],
  "agreed_total": 2589
}
JSON
#: I had missed what was taken back: tap, floor, hob and walls are right now, and the door code is nowhere.
