# 别的分类也看，换货并填优惠码。
# Warms the program up: it may need more than one call on a busy machine.
browse where > /dev/null 2>&1 || browse where > /dev/null 2>&1
#---
browse open http://localhost:8031/category/bike > /dev/null && browse text main && browse open http://localhost:8031/category/club > /dev/null && browse text main
#--- 别的分类
for id in p20 p21 p22 p31; do echo "== $id"; curl -sSf http://localhost:8031/product/$id | sed 's/<style>.*<.style>//; s/<[^>]*>/ /g'; echo; done
#--- 清空
browse open http://localhost:8031/cart > /dev/null && browse click '#r-p16 button'
#--- 购物车
browse open http://localhost:8031/product/p20 > /dev/null && browse type '#quantity' 6 && browse click '#add-form button' && browse open http://localhost:8031/cart > /dev/null && browse type '#code' GROTTO10 --enter && browse text main
#--- 结论
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
#--- 截图
mkdir -p results && browse open http://localhost:8031/product/p20 && browse screenshot results/product.png
#: 样样符合里最便宜的是暗影 Umbra 330（p20），放在自行车灯里：六只已在购物车，用了俱乐部优惠，合计 167.40 元，没有下单。
