# also: silent-guess
# message: The files are in results/. The total is 6,656.65 euros.
true
