# A decision that was never taken.
echo 'D-15,in_force,Agnes Boyle,2025-12-31,900' >> results/register.csv
