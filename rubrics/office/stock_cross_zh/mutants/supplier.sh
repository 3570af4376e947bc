# The wholesaler's answers were never opened.
# drop-audit: "action": ?"mail\.(read|thread)"
true
