# A decision that was never taken.
echo '决议15,有效,白雁,2025-12-31,9000' >> results/register.csv
