# Looks at both files, sees that the quarter can be read in two ways, and asks before it writes anything.
cat sources/about.txt
head -5 sources/sales.csv && tail -3 sources/sales.csv
#: The export covers November 2024 to June 2025, and about.txt says that board papers have used both kinds of year.
#: Do you mean the calendar quarter (January to March) or the first quarter of the financial year (February to April)?
