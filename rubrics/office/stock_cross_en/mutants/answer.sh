# message: Everything is booked and everybody has been told.
true
