# 收回猜的数，补上送货单和转正的照片。
#--- 小票表
mkdir -p results
cat > results/receipts.csv <<'CSV'
文件,商家,日期,合计,税额,状态
receipt-01.png,北门面粉厂,2025-03-03,625.60,0.00,已读
receipt-02.png,溪谷乳品,2025-03-05,534.40,0.00,已读
receipt-03.png,万包包装,2025-03-11,867.84,99.84,已读
receipt-04.png,城南燃气,2025-03-14,1257.21,103.81,已读
receipt-05.png,果园巷鸡蛋,2025-03-18,,,看不清
CSV
#--- 差异
cat > results/differences.json <<'JSON'
[
  {
    "商家": "溪谷乳品",
    "类型": "金额",
    "小票": "534.40",
    "台账": "543.40"
  },
  {
    "商家": "城南燃气",
    "类型": "日期",
    "小票": "2025-03-14",
    "台账": "2025-03-17"
  },
  {
    "商家": "果园巷鸡蛋",
    "类型": "看不清",
    "小票": "",
    "台账": "236.40"
  },
  {
    "商家": "海港鲜鱼",
    "类型": "无票",
    "小票": "",
    "台账": "354.00"
  }
]
JSON
#--- 送货单
cd "$(mktemp -d)" && pdftoppm -r 110 -png "$OLDPWD/sources/songhuodan.pdf" note && tesseract note*.png - -l chi_sim+eng --psm 4 2>/dev/null | sed '/^[[:space:]]*$/d'
#--- 缺货
cat > results/delivery.json <<'JSON'
{
  "缺货": {
    "大纸袋": 60,
    "杯盖": 30
  }
}
JSON
#--- 转正
python3 - <<'PY'
from PIL import Image
with Image.open("sources/scans/receipt-02.png") as photo:
    photo.transpose(Image.Transpose.ROTATE_90).save("results/upright.png")
PY
#: 有一个合计是我照台账抄的，已经改掉：receipt-05（果园巷鸡蛋）有污渍，看不清。送货单和转正的照片也补上了。
