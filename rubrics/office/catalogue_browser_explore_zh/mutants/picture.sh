# A screenshot of the cart.
browse open http://localhost:8031/category/head > /dev/null && browse screenshot results/product.png
