# set-state: shop /orders {"o1": {"id": "o1"}}
# An order was placed.
