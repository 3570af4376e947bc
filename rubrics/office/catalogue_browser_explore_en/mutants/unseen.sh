# also: opened
# drop-audit: shop\.product.*p13
# A lamp is rejected by its name.
