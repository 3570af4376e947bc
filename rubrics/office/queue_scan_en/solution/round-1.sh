# Every frame where the display changes, the letters, the still.
work=$(mktemp -d) && ffmpeg -nostdin -threads 1 -loglevel error -i sources/display.mp4 -vf fps=1 "$work/f%03d.png" && ls "$work" | wc -l
pdftoppm -r 110 -png sources/letters.pdf "$work/p" && for p in "$work"/p*.png; do tesseract "$p" - -l eng --psm 6 2>/dev/null; done
#--- tables
cat > results/calls.csv <<'CSV'
time,ticket,room,repeat
09:12,A015,2,no
09:14,C006,1,no
09:16,A015,2,yes
09:17,B031,3,no
09:19,C007,1,no
09:21,A017,2,no
09:23,A017,2,yes
09:24,C007,1,yes
09:28,B032,3,no
09:29,C008,3,no
09:31,A018,2,no
09:33,B032,3,yes
09:34,A019,1,no
09:37,C009,2,no
CSV
cat > results/doctors.json <<'JSON'
{
  "Dr Ames": 3,
  "Dr Moss": 1,
  "Dr Faro": 3,
  "Dr Lund": 3
}
JSON
cat > results/complaints.json <<'JSON'
[
  {
    "ticket": "A017",
    "calls": [
      "09:21",
      "09:23"
    ],
    "room": 2,
    "justified": false
  },
  {
    "ticket": "C008",
    "calls": [
      "09:29"
    ],
    "room": 3,
    "justified": true
  }
]
JSON
#--- the still
ffmpeg -nostdin -threads 1 -loglevel error -y -ss 11.75 -i sources/display.mp4 -frames:v 1 results/still.png
#: Repeats, doctors and the two letters are done: C008 is justified, it was called once, at 09:29; A017 was called twice.
#: The still of 09:21 is in results/still.png.
