# Every frame where the display changes, the letters, the still.
work=$(mktemp -d) && ffmpeg -nostdin -threads 1 -loglevel error -i sources/display.mp4 -vf fps=1 "$work/f%03d.png" && ls "$work" | wc -l
pdftoppm -r 110 -png sources/laixin.pdf "$work/p" && for p in "$work"/p*.png; do tesseract "$p" - -l chi_sim --psm 6 2>/dev/null; done
#--- tables
cat > results/calls.csv <<'CSV'
时间,号码,诊室,重呼
09:12,A015,2,否
09:14,C006,1,否
09:16,A015,2,是
09:17,B031,3,否
09:19,C007,1,否
09:21,A017,2,否
09:23,A017,2,是
09:24,C007,1,是
09:28,B032,3,否
09:29,C008,3,否
09:31,A018,2,否
09:33,B032,3,是
09:34,A019,1,否
09:37,C009,2,否
CSV
cat > results/doctors.json <<'JSON'
{
  "安大夫": 3,
  "莫大夫": 1,
  "法大夫": 3,
  "伦大夫": 3
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
#: 重呼、大夫和两封信都办好了：C008 有理，只在 09:29 叫过一次；A017 叫过两次。截图在 results/still.png。
