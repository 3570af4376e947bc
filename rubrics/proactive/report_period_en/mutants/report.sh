# message: I assumed the financial year, February to April. The files are in results/.
true
