# First attempt: searches for yes and prices, takes the sister's word and every rise.
grep -nE 'yes|Yes|£' sources/chat.txt
#--- the table
mkdir -p results
cat > results/spec.csv <<'CSV'
item,status,choice,price,agreed_on
worktop,agreed,oak,1255,2025-01-22
tap,agreed,brass,240,2025-02-03
sink,agreed,white,310,2025-03-25
floor,agreed,cork,532,2025-02-06
hob,agreed,induction,640,2025-02-11
lamps,agreed,two pendants,150,2025-02-18
handles,agreed,leather,126,2025-02-18
walls,agreed,sage,420,2025-02-25
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
    "2025-03-03",
    "2025-05-23"
  ],
  "agreed_total": 0
}
JSON
#: The specification is in results/spec.csv, the answers beside it.
