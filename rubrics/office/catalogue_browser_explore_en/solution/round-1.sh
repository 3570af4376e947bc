# The review is read: another lamp of the same department; still no look elsewhere.
# Warms the program up: it may need more than one call on a busy machine.
browse where > /dev/null 2>&1 || browse where > /dev/null 2>&1
#---
for id in p17 p16; do echo "== $id"; curl -sSf http://localhost:8031/product/$id | sed 's/<style>.*<.style>//; s/<[^>]*>/ /g'; echo; done
#--- empty the cart
browse open http://localhost:8031/cart > /dev/null && browse click '#r-p17 button'
#--- the cart
browse open http://localhost:8031/product/p16 > /dev/null && browse type '#quantity' 6 && browse click '#add-form button' && browse open http://localhost:8031/cart > /dev/null && browse text main
#--- the choice
mkdir -p results
cat > results/choice.json <<'JSON'
{
  "product": "p16",
  "price": 33.5,
  "total": 201.0,
  "runner_up": "p18",
  "rejected": {
    "p11": "protection",
    "p12": "stock",
    "p13": "weight",
    "p14": "power",
    "p15": "weight",
    "p17": "protection",
    "p19": "light"
  }
}
JSON
#--- the picture
mkdir -p results && browse open http://localhost:8031/product/p16 && browse screenshot results/product.png
#: The Cavern has a weaker seal by now, so I took the Speleo One instead.
