# also: silent-guess
# message: All ten files are renamed; Q1 comes to 888.60.
true
