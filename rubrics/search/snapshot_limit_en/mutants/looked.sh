# The change log was never opened, only quoted by others.
# also: unread-source
# drop-audit: changelog
true
