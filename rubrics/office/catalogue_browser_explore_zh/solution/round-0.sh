# 第一版：只看了头灯一类，没找优惠。
# Warms the program up: it may need more than one call on a busy machine.
browse where > /dev/null 2>&1 || browse where > /dev/null 2>&1
#---
browse open http://localhost:8031/category/head && browse text main
#--- 逐件看
for id in p11 p12 p13 p14 p15 p16 p17 p18 p19; do echo "== $id"; curl -sSf http://localhost:8031/product/$id | sed 's/<style>.*<.style>//; s/<[^>]*>/ /g'; echo; done
#--- 购物车
browse open http://localhost:8031/product/p16 > /dev/null && browse type '#quantity' 6 && browse click '#add-form button' && browse open http://localhost:8031/cart > /dev/null && browse text main
#--- 结论
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
#--- 截图
mkdir -p results && browse open http://localhost:8031/product/p16 && browse screenshot results/product.png
#: 选了探洞 Speleo One，六只已放进购物车。
