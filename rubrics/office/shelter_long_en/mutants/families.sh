# The handover says who has one of them.
echo 'Linden' >> results/handover.md
