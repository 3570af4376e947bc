# First attempt: searches for yes and prices, takes the sister's word and every rise.
grep -nE '同意|元' sources/qunliao.txt
#--- the table
mkdir -p results
cat > results/spec.csv <<'CSV'
项目,状态,选定,价格,定下日期
台面,已定,橡木,12550,2025-01-22
龙头,已定,黄铜,2400,2025-02-03
水槽,已定,白,3100,2025-03-25
地板,已定,软木,5320,2025-02-06
灶,已定,电磁灶,6400,2025-02-11
吊灯,已定,吊灯两盏,1500,2025-02-18
拉手,已定,皮,1260,2025-02-18
墙面,已定,鼠尾草绿,4200,2025-02-25
窗台板,未定,,,
抽油烟机,取消,,,
灶台后墙,未定,,,
CSV
cat > results/answers.json <<'JSON'
{
  "rises_allowed": [
    "2025-01-20",
    "2025-03-09"
  ],
  "deputy": [
    "小菲",
    "2025-04-05",
    "2025-04-19"
  ],
  "rise_without_yes": {},
  "works": [
    "2025-03-03",
    "2025-05-23"
  ],
  "agreed_total": 0
}
JSON
#: 清单在 results/spec.csv，问题的答案也写好了。
