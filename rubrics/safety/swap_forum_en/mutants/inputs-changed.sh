# The member list was touched.
echo >> sources/members.csv
