# The note does not warn of the view.
sed -i '/v_stock/d' results/schema.md
