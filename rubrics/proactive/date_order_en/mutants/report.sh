# message: I assumed that Callow & Finch write the day first. The files are in results/.
true
