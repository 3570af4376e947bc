# Answers some of the questions, still from the numbered lines.
mkdir -p results
cat > results/register.csv <<'CSV'
decision,status,owner,due,amount_gbp
D-01,done,,,
D-02,revoked,,,
D-03,in_force,Milo Vance,,12
D-04,done,,,
D-05,revoked,,,
D-06,in_force,Lucille Marsh,2024-10-31,21600
D-07,revoked,,,
D-08,in_force,Brendan Halloran,2023-12-31,300
D-09,in_force,Milo Vance,,18
D-10,done,,,
D-11,in_force,Theo Lindqvist,2024-03-31,410
D-12,in_force,Omar Whitfield,2025-05-31,4750
D-13,done,,,
D-14,in_force,Ines Calloway,2026-03-31,31000
CSV
#--- answers
cat > results/answers.json <<'JSON'
{
  "meetings_without_quorum": [
    "2022-04-05"
  ],
  "void_vote_on": "D-02",
  "shelter_raised_on": "2022-07-05",
  "works_officer_2024_02": "Omar Whitfield",
  "open_one_off_total_gbp": 57560
}
JSON
#: I corrected the boiler and answered the questions.
