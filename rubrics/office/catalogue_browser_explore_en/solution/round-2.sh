# Looks into the other departments, where a cheaper lamp and the clubs' code are.
# Warms the program up: it may need more than one call on a busy machine.
browse where > /dev/null 2>&1 || browse where > /dev/null 2>&1
#---
browse open http://localhost:8031/category/bike > /dev/null && browse text main && browse open http://localhost:8031/category/club > /dev/null && browse text main
#--- the other departments
for id in p20 p21 p22 p31; do echo "== $id"; curl -sSf http://localhost:8031/product/$id | sed 's/<style>.*<.style>//; s/<[^>]*>/ /g'; echo; done
#--- empty the cart
browse open http://localhost:8031/cart > /dev/null && browse click '#r-p16 button'
#--- the cart
browse open http://localhost:8031/product/p20 > /dev/null && browse type '#quantity' 6 && browse click '#add-form button' && browse open http://localhost:8031/cart > /dev/null && browse type '#code' GROTTO10 --enter && browse text main
#--- the choice
mkdir -p results
cat > results/choice.json <<'JSON'
{
  "product": "p20",
  "price": 31.0,
  "total": 167.4,
  "runner_up": "p16",
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
mkdir -p results && browse open http://localhost:8031/product/p20 && browse screenshot results/product.png
#: The cheapest with everything is the Umbra 330 (p20), filed under bike lights: six are in the cart with the club discount, 167.40 EUR. Nothing is ordered.
