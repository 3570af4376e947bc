# 找到第一个答案就停下。
curl -sSf 'localhost:8032/api/search?q=504%20%E7%94%B5%E5%AE%B9'
curl -sSf localhost:8032/api/threads/504-hum
#--- 商店
curl -sSf 'localhost:8031/api/products?q=47'
curl -sSf localhost:8031/api/products/E-4750A
#--- 写结果
mkdir -p results
cat > results/answer.json <<'JSON'
{"settled": true, "answer": {"uf": 47, "volts": 50, "product": "E-4750A"},
 "sources": ["http://localhost:8032/thread/504-hum", "http://localhost:8031/product/E-4750A"], "note": "论坛里有人换过。"}
JSON
#: 用 47 微法 50 伏的，店里编号 E-4750A。
