# 名字不照规矩。
mv sources/gongxiang/2025-05-huizong-mendian.csv sources/gongxiang/new.csv
