# Two suppliers can be told from their dates, the third cannot: asks about that one alone.
cat sources/scans.csv sources/letterheads.txt
#: Brightwell write the day first (27/03), Okafor the month first (03/28). Callow & Finch have only dates that fit both ways.
#: Do Callow & Finch write the day or the month first, so is 04/03/2025 in March or in April?
