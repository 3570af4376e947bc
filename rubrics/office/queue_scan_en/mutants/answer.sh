# message: Everything is in results/.
true
