# message: It is all in results/answer.json.
true
