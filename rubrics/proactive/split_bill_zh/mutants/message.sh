# 没有写总额。
sed -i s/1089/若干/ results/message.txt
