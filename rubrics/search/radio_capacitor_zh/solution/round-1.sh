# 把帖子看到底，找到资料帖；商店里按规格逐件看。
curl -sSf localhost:8032/api/boards/data
curl -sSf localhost:8032/api/threads/504-2-changes
#--- 商店
curl -sSf 'localhost:8031/api/products?q=100%20160'
curl -sSf localhost:8031/api/products/E-100160A
curl -sSf localhost:8031/api/products/E-100160AX
#--- 写结果
cat > results/answer.json <<'JSON'
{"settled": true, "answer": {"uf": 100, "volts": 160, "product": "E-100160AX"},
 "sources": ["http://localhost:8032/thread/504-2-changes", "http://localhost:8032/thread/504-hum", "http://localhost:8031/product/E-100160AX"],
 "note": "504-2 用 100 微法 160 伏轴向；47 微法 50 伏是 503 的。E-100160A 缺货，E-100160AX 是同尺寸替代件。"}
JSON
#: 换 100 微法、160 伏、轴向引线的，店里有货的是 E-100160AX（7 只）。帖子开头说的 47 微法 50 伏是 503 的，版主已更正，我比较有把握。
