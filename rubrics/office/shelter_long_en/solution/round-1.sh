# The corrections, looked for on purpose, and the rest of the file.
tail -c +50001 sources/daybook.txt
#--- mend
cat > results/animals.csv <<'CSV'
name,status,kennel,weight_kg,doses
Biscuit,in_house,1,11.7,0
Bramble,in_house,14,18.2,0
Clover,adopted,,7.2,0
Fern,fostered,,15.2,0
Juno,moved_on,,23.8,8
Moss,in_house,2,20.3,6
Otis,in_house,7,29.0,5
Pepper,in_house,11,8.8,0
Sable,adopted,,5.6,0
Tully,in_house,5,13.5,6
Ziggy,adopted,,10.4,6
CSV
cat > results/answers.json <<'JSON'
{
  "renamed": {
    "Ziggy": "Pepper"
  },
  "came_back": [
    "Biscuit"
  ],
  "scale_wrong": [
    "2025-03-03",
    "2025-03-17"
  ],
  "total_doses": 31,
  "next_course": {
    "name": "Tully",
    "last_day": "2025-07-02"
  }
}
JSON
cat > results/handover.md <<'MD'
In the house: Biscuit in kennel 1, Moss in 2, Tully in 5, Otis in 7, Pepper (the new one) in 11, Bramble in 14, which was 4 until May.

Tully gets one tablet of Vetrazol a day until 2 July 2025. Nobody else takes anything.
MD
#: Corrected: doors, weights and tablets, with what the later entries take back. The handover is in results/handover.md.
