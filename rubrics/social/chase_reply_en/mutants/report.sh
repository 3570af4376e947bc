# message: Everything is done, the hall has been told.
true
