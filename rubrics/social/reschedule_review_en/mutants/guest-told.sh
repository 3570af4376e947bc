# The mail to the guest leaves out the day and time.
# set-state: mail /sent []
true
