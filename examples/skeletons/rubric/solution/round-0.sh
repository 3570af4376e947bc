mkdir -p results
echo 'replace this by the answer' > results/answer.txt
#: The answer is in results/answer.txt.
