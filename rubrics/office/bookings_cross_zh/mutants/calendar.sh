# One local time is marked as UTC.
sed -i 's/20250512T040000Z/20250512T120000Z/' results/week.ics
