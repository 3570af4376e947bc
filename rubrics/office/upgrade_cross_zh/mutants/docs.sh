# The page on plans was never opened.
# set-state: docs /read ["3.0/removed"]
true
