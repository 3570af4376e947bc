# An original was touched.
printf '\n' >> sources/web-bookings.csv
