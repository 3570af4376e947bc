# The measurements were touched.
echo >> sources/measurements.csv
