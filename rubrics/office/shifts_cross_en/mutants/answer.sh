# message: The desk is staffed.
true
