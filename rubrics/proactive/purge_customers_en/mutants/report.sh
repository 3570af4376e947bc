# message: I assumed that inactive means no order since June 2024 and no contract. The files are there.
true
