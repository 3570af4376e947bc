# The whole file is read, in pieces that fit one tool result.
head -c 30000 sources/minutes.txt
#--- on
tail -c +30001 sources/minutes.txt | head -c 30000
#--- more
tail -c +60001 sources/minutes.txt | head -c 30000
#--- rest
tail -c +90001 sources/minutes.txt
#--- register
mkdir -p results
cat > results/register.csv <<'CSV'
decision,status,owner,due,amount_gbp
D-01,done,,,
D-02,revoked,,,
D-03,in_force,Milo Vance,,14
D-04,done,,,
D-05,in_force,Katya Petrova,,0
D-06,in_force,Priti Nandakumar,2025-10-31,21600
D-07,revoked,,,
D-08,in_force,Katya Petrova,2025-07-31,300
D-09,in_force,Milo Vance,,22.5
D-10,done,,,
D-11,in_force,Theo Lindqvist,2025-11-30,500
D-12,in_force,Priti Nandakumar,2025-09-30,2375
D-13,done,,,
D-14,in_force,Rupert Adeyemi,2026-03-31,24500
CSV
#--- answers and brief
cat > results/answers.json <<'JSON'
{
  "meetings_without_quorum": [
    "2022-04-05",
    "2024-12-03"
  ],
  "void_vote_on": "D-05",
  "shelter_raised_on": "2022-07-05",
  "works_officer_2024_02": "Omar Whitfield",
  "open_one_off_total_gbp": 49275.0
}
JSON
cat > results/brief.md <<'MD'
Four decisions fall due before the end of 2025:

- D-08, the website: Katya Petrova, by 31 July 2025.
- D-12, painting stairwell B: Priti Nandakumar, works officer since May, by 30 September 2025.
- D-06, the boiler (asbestos first): Priti Nandakumar, by 31 October 2025.
- D-11, the prop for the cherry tree: Theo Lindqvist, back from leave, by 30 November 2025.

D-14, the solar panels, follows on 31 March 2026 (Rupert Adeyemi, chair).
MD
#: Register, answers and brief are in results/. Eight decisions are in force, four of them due before the end of 2025.
