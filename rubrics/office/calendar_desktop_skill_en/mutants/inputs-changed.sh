# The requests were touched.
echo >> sources/requests.csv
