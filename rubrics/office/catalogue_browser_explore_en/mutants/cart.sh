# set-state: shop /cart/items {"p20": 6, "p32": 1}
# Something else lies in the cart.
