# The longer term of one plan, and the two tickets that were open before.
curl -sSf localhost:8034/raw/3.0/plans
#--- put right
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-1 -d priority=normal
curl -sSf -o /dev/null localhost:8033/api/tickets/T-1/comments --data-urlencode 'text=pro: /v1/charge 到 2026-08-31'
#--- the open ones
curl -sSf -o /dev/null localhost:8033/api/tickets/T-3/comments --data-urlencode 'text=/v1/charge 改用 /v2/payments，到 2026-05-31；/v1/refund 改用 /v2/refunds，到 2026-08-31。'
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-3 -d priority=high -d assignee=pip
curl -sSf -o /dev/null localhost:8033/api/tickets/T-8/comments --data-urlencode 'text=/v1/balance 在 3.0 里保留，不用做什么。'
curl -sSf -o /dev/null -X PATCH localhost:8033/api/tickets/T-8 -d state=closed
#--- the plan
cat > results/plan.csv <<'CSV'
客户,接口,改用,最后一天,工单
C-01,/v1/charge,/v2/payments,2026-08-31,T-1
C-02,/v1/charge,/v2/payments,2026-05-31,T-3
C-02,/v1/refund,/v2/refunds,2026-08-31,T-3
C-04,/v1/export,/v2/reports,2026-04-30,T-2
C-06,/v1/refund,/v2/refunds,2026-08-31,T-4
C-07,/v1/charge,/v2/payments,2026-05-31,T-7
C-07,/v1/export,/v2/reports,2026-04-30,T-7
CSV
#: 最紧的是 C-04 和 C-07：/v1/export 只到2026年4月30日。T-8 已关，因为 /v1/balance 保留。pro 客户的 /v1/charge 可用到八月底；C-02 沿用 T-3。
