echo 'something else' > results/answer.txt
