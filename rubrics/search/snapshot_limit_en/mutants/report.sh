# message: I have written it down; the limit is lower than in the table.
true
