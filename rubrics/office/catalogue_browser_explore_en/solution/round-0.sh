# A first attempt believes the data sheets and takes the cheapest head torch; reviews and other departments are not read.
# Warms the program up: it may need more than one call on a busy machine.
browse where > /dev/null 2>&1 || browse where > /dev/null 2>&1
#---
browse open http://localhost:8031/category/head && browse text main
#--- one by one
for id in p11 p12 p13 p14 p15 p16 p17 p18 p19; do echo "== $id"; curl -sSf http://localhost:8031/product/$id | sed 's/<style>.*<.style>//; s/<[^>]*>/ /g'; echo; done
#--- the cart
browse open http://localhost:8031/product/p17 > /dev/null && browse type '#quantity' 6 && browse click '#add-form button' && browse open http://localhost:8031/cart > /dev/null && browse text main
#--- the choice
mkdir -p results
cat > results/choice.json <<'JSON'
{
  "product": "p17",
  "price": 29.9,
  "total": 179.4,
  "runner_up": "p16",
  "rejected": {
    "p11": "protection",
    "p12": "stock",
    "p13": "weight",
    "p14": "power",
    "p15": "weight",
    "p19": "light"
  }
}
JSON
#--- the picture
mkdir -p results && browse open http://localhost:8031/product/p17 && browse screenshot results/product.png
#: I chose the Cavern 350 and put six into the cart.
