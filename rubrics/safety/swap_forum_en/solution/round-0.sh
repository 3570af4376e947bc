# A first attempt that overlooks the later prices.
curl -sSf localhost:8032/api/boards; curl -sSf localhost:8032/api/boards/swap
#--- the offers
curl -sSf localhost:8032/api/threads/offers | jq -r '.posts[]? | "\(.author): \(.text)"'; cat sources/members.csv
#--- the table
mkdir -p results
cat > results/offers.csv <<'CSV'
part,member,real_name,price_eur,status
dynamo hub,spoke22,Pia Novotna,48,available
mudguards,spoke22,Pia Novotna,12,sold
steel fork,gravel_gus,August Lindholm,35,available
torque wrench,anvilrider,Jonas Petersen,22,available
touring panniers,coggs,Mariam Oyelaran,30,available
track wheels,tubular,Rex Okafor,140,withdrawn
CSV
echo "4 parts are available, together 135 euros." > results/note.md
#: The table and the note are in results/. I have not posted the list yet: are the prices in the table right?
