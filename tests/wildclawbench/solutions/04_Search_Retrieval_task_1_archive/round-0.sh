grep -rn -i 'postponed\|correction' archive
#---
echo '{"bridge": "Mill Lane", "last_date": "2025-11-20", "source": "2025-09.txt"}' > results/answer.json
#: It is Mill Lane Bridge; the second postponement of Priory Bridge was corrected.
