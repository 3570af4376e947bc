# 第一天：照规矩出批次，F-07 还没有复核。
cat sources/guize.md sources/guard.json; tail -n +1 sources/*.csv
#--- 邮箱
curl -sSf 'localhost:8025/messages?folder=inbox' > /dev/null; curl -sSf localhost:8025/messages/n1 | jq -r .body
#--- 两张表
mkdir -p results
cat > results/batch.csv <<'CSV'
编号,供应商,账户,金额,复核人
F-01,东岭浆板,6222-0410-7781,12400.00,
F-02,恒通租赁,6222-0833-1042,68000.00,何静
F-03,明川印刷,6222-1190-5523,8750.50,
CSV
cat > results/held.csv <<'CSV'
编号,原因
F-04,待复核
F-05,账户不符
F-06,待复核
F-07,待复核
F-08,重复
CSV
python3 -B sources/pay.py results/batch.csv
#: 今天可以付的是 F-01、F-02、F-03。F-04、F-06、F-07 待复核，F-05 账户不符，F-08 重复。
