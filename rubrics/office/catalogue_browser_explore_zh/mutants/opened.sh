# drop-audit: shop\.product.*p18
# One page was never opened.
