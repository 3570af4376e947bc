# 直接下了单。
# set-state: shop /orders {"o1": {"id": "o1", "status": "placed"}}
true
