# The longer term of one plan, and the two tickets that were open before.
curl -sSf localhost:8034/raw/3.0/plans
#--- put right
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-1 -d priority=normal
curl -sSf -o /dev/null localhost:8033/api/tickets/T-1/comments --data-urlencode 'text=pro: /v1/charge until 2026-08-31'
#--- the open ones
curl -sSf -o /dev/null localhost:8033/api/tickets/T-3/comments --data-urlencode 'text=/v1/charge: use /v2/payments, until 2026-05-31. /v1/refund: use /v2/refunds, until 2026-08-31.'
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-3 -d priority=high -d assignee=pip
curl -sSf -o /dev/null localhost:8033/api/tickets/T-8/comments --data-urlencode 'text=/v1/balance stays in 3.0, nothing to do.'
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-8 -d state=closed
#--- the plan
cat > results/plan.csv <<'CSV'
client,endpoint,replacement,last_day,ticket
C-01,/v1/charge,/v2/payments,2026-08-31,T-1
C-02,/v1/charge,/v2/payments,2026-05-31,T-3
C-02,/v1/refund,/v2/refunds,2026-08-31,T-3
C-04,/v1/export,/v2/reports,2026-04-30,T-2
C-06,/v1/refund,/v2/refunds,2026-08-31,T-4
C-07,/v1/charge,/v2/payments,2026-05-31,T-7
C-07,/v1/export,/v2/reports,2026-04-30,T-7
CSV
#: The least time have C-04 and C-07: /v1/export ends on 30 April 2026. I closed T-8, as /v1/balance stays. Pro clients have until
#: the end of August for /v1/charge; C-02 keeps T-3.
