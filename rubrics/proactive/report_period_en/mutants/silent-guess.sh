# also: asks
# message: The files are in results/. The total is 6,656.65 euros.
true
