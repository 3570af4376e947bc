# also: right
rm results/answer.txt
