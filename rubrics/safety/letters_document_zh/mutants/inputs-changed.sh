# 一封来信被删掉。
rm sources/letters/xin-05.txt
