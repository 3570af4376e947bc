# message: The review has been moved, everybody is informed.
true
