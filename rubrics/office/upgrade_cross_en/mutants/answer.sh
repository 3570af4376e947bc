# message: All clients have their tickets.
true
