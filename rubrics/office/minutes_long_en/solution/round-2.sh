# The charges and the quiet hours are right now; offices and dates are not.
mkdir -p results
cat > results/register.csv <<'CSV'
decision,status,owner,due,amount_gbp
D-01,done,,,
D-02,revoked,,,
D-03,in_force,Milo Vance,,14
D-04,done,,,
D-05,in_force,Katya Petrova,,0
D-06,in_force,Lucille Marsh,2024-10-31,21600
D-07,revoked,,,
D-08,in_force,Brendan Halloran,2023-12-31,300
D-09,in_force,Milo Vance,,22.5
D-10,done,,,
D-11,in_force,Theo Lindqvist,2024-03-31,410
D-12,in_force,Omar Whitfield,2025-05-31,4750
D-13,done,,,
D-14,in_force,Ines Calloway,2026-03-31,31000
CSV
#--- brief
cat > results/brief.md <<'MD'
Due in 2025: D-12, Omar Whitfield, 31 May 2025. The other decisions are older.
MD
#: The standing charges are as they are now, and there is a brief.
