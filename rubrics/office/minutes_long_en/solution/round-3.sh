# Sums are right at last; several owners and dates stay wrong, so the rounds end here.
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
D-08,in_force,Brendan Halloran,2023-12-31,300
D-09,in_force,Milo Vance,,22.5
D-10,done,,,
D-11,in_force,Theo Lindqvist,2024-03-31,500
D-12,in_force,Omar Whitfield,2025-05-31,2375
D-13,done,,,
D-14,in_force,Ines Calloway,2026-03-31,24500
CSV
#: I checked all the sums once more and corrected them.
