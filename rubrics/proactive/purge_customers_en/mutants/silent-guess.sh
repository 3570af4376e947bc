# also: asks
# message: Done: 6 customers go, 8 stay.
true
