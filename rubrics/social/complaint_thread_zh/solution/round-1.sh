# 读附件，补上批次；回复顾客；法务那封也归档。
curl -sSf 'localhost:8025/messages/c2/attachments/%E6%A0%87%E7%AD%BE.txt'
#--- 补充给工厂
curl -sSf localhost:8025/send -d to=quality@qinghe-factory.example --data-urlencode 'subject=请检查 HK-17 电水壶（补充批次）' \
  --data-urlencode 'body=补充：订单 HM-20488 的 HK-17，批次 B2511-06。'
#--- 回复顾客
curl -sSf localhost:8025/messages/c3/reply \
  --data-urlencode 'body=苏女士，您好：让您受伤又等了这么久，非常抱歉。您反映的情况我们已经在查，3 月 5 日（周四）之前一定给您答复。'
#--- 归档
curl -sSf -o /dev/null localhost:8025/messages/law/move --data-urlencode folder=投诉
#: 都办好了。转给工厂的是型号 HK-17、批次 B2511-06、订单号和故障现象；没有转的是顾客的姓名、联系方式和身体情况，以及内部意见。
#: 苏女士已收到回复，说好周四之前答复；四封来信都在“投诉”里。
