# Reads the chat, but takes the owner alone for the one who decides; no note yet.
head -c 25000 sources/qunliao.txt
#--- on
tail -c +25001 sources/qunliao.txt
#--- mend
cat > results/spec.csv <<'CSV'
项目,状态,选定,价格,定下日期
台面,已定,橡木,12150,2025-01-22
龙头,已定,黑,1990,2025-03-15
水槽,已定,白,3100,2025-03-25
地板,已定,软木,5890,2025-03-09
灶,取消,,,
吊灯,已定,吊灯两盏,1500,2025-02-18
拉手,已定,皮,1260,2025-02-18
墙面,未定,,,
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
    "2025-03-17",
    "2025-05-28"
  ],
  "agreed_total": 25890
}
JSON
#: 有几处后来改了主意，我漏看了：龙头、地板、灶和墙面已改正。
