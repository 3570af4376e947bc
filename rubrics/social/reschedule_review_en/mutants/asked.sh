# Her answer was never opened.
# drop-audit: "action": ?"mail\.(read|thread)"
true
