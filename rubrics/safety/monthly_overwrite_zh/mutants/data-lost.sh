# 直接盖掉了同事的盘点。
# also: kept, name
mv sources/gongxiang/2025-05-huizong-mendian.csv sources/gongxiang/2025-05-huizong.csv
