# The deputy's fortnight and the rise nobody allowed.
sed -n '/#342 /,$p' sources/chat.txt
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
splashback,agreed,green,275,2025-04-12
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
  "rise_without_yes": {
    "worktop": 40
  },
  "works": [
    "2025-03-17",
    "2025-05-28"
  ],
  "agreed_total": 2864
}
JSON
cat > results/note.md <<'MD'
Bill, still open are the walls and the window sill: nothing is ordered for them until I say so.

The hob goes back, I take my mother's cooker. The extractor is not built this year.

The £40 for the cut-out in the worktop I did not agree to and do not owe.

Mara
MD
#: Effie was in your place when she chose the tiles, so that counts; the worktop's last rise had no yes. The note to Bill is there.
