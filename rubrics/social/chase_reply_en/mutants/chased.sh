# No mail went to the new secretary.
# set-state: mail /sent_to ["marsh.lane@oldhost.example", "hall@tithebarn.example"]
true
