# On purpose this staged solution never gets there: it shows an episode that uses up its rounds, with a best
# attempt below the threshold. `full.sh` beside it is the whole solution; validation plays that one.
grep -n 'D-[0-9]' sources/minutes.txt
#--- from the numbered lines alone
mkdir -p results
cat > results/register.csv <<'CSV'
decision,status,owner,due,amount_gbp
D-01,done,,,
D-02,revoked,,,
D-03,in_force,Milo Vance,,12
D-04,done,,,
D-05,revoked,,,
D-06,in_force,Lucille Marsh,2024-10-31,26100
D-07,revoked,,,
D-08,in_force,Brendan Halloran,2023-12-31,300
D-09,in_force,Milo Vance,,18
D-10,done,,,
D-11,in_force,Theo Lindqvist,2024-03-31,410
D-12,in_force,Omar Whitfield,2025-05-31,4750
D-13,done,,,
D-14,in_force,Ines Calloway,2026-03-31,31000
CSV
#: I collected all decisions with their numbers; the register is in results/register.csv.
