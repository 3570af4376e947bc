# 同事的文件被改名挪走了。
mv sources/gongxiang/2025-05-huizong.csv sources/gongxiang/2025-05-pandian.csv
