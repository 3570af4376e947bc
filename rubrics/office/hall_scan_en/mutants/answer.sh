# message: The stands are allotted.
true
