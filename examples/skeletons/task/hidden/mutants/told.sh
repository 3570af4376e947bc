# message: The counts are in results/count.json.
true
