# The corrections, looked for on purpose, and the rest of the file.
tail -c +50001 sources/zhiban.txt
#--- mend
cat > results/animals.csv <<'CSV'
名字,状态,房间,体重,服药片数
饼干,在所,1,11.7,0
荆棘,在所,14,18.2,0
三叶,领养,,7.2,0
蕨菜,寄养,,15.2,0
朱诺,转出,,23.8,8
青苔,在所,2,20.3,6
奥蒂,在所,7,29.0,5
胡椒,在所,11,8.8,0
黑貂,领养,,5.6,0
图利,在所,5,13.5,6
闪电,领养,,10.4,6
CSV
cat > results/answers.json <<'JSON'
{
  "renamed": {
    "闪电": "胡椒"
  },
  "came_back": [
    "饼干"
  ],
  "scale_wrong": [
    "2025-03-03",
    "2025-03-17"
  ],
  "total_doses": 31,
  "next_course": {
    "name": "图利",
    "last_day": "2025-07-02"
  }
}
JSON
cat > results/jiaojie.md <<'MD'
在所：饼干一号间（1号），青苔2号，图利5号，奥蒂7号，胡椒（新来的那只）11号，荆棘14号（五月前的4号）。

图利的驱敏灵一天一片，吃到7月2日，其他动物都不用药。
MD
#: 已按后面的更正改好房间、体重和片数，交接在 results/jiaojie.md。
