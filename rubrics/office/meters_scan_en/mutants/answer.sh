# message: All bills are in results/.
true
