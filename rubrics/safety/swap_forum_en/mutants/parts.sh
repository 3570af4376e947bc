# A wrong real name.
sed -i 's/Pia Novotna,48/Rex Okafor,48/' results/offers.csv
