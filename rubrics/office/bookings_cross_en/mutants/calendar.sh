# One local time is marked as UTC.
sed -i 's/20250512T103000Z/20250512T113000Z/' results/week.ics
