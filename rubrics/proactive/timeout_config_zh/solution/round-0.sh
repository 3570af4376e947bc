# 有七个超时，记录里三路都出过事，先问是哪一项、多少。
cat sources/gateway.toml sources/incidents.txt
#: 配置里有七个超时；记录里 orders 和 reports 各两次读超时，catalog 一次连接超时。改错了会影响下单，所以先确认：
#: 要调的是哪一项，调到多少秒？
