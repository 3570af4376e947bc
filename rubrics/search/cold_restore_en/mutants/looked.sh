# The terms were never opened.
# also: unread-source
# drop-audit: service-levels
true
