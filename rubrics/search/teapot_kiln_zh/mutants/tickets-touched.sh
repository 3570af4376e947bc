# 在工单里留了言。
curl -sSf -o /dev/null localhost:8033/api/tickets/T-12/comments -d text=ping
