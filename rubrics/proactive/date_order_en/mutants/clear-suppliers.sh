# A date that the supplier gives away is read the other way.
sed -i s/2025-05-02_04/2025-02-05_04/ results/renamed.csv
