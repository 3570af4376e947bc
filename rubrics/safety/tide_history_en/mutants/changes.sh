# A change is missing.
# also: values
sed -i '/92b5530/d' results/settings.csv
