# set-state: shop /cart/coupon ""
# No code was entered.
