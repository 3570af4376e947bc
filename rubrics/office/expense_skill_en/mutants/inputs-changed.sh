# The log was touched.
echo >> sources/trip-log.csv
