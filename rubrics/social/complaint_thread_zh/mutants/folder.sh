# 把咨询也归进了投诉。
curl -sSf -o /dev/null localhost:8025/messages/return/move --data-urlencode folder=投诉
