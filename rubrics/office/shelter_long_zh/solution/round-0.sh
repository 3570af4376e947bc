# First attempt: the entries as they stand, later corrections overlooked, no handover.
head -c 25000 sources/zhiban.txt
#--- on
tail -c +25001 sources/zhiban.txt | head -c 25000
#--- tables
mkdir -p results
cat > results/animals.csv <<'CSV'
名字,状态,房间,体重,服药片数
饼干,在所,1,12.0,0
荆棘,在所,4,18.2,0
三叶,领养,,7.6,0
蕨菜,寄养,,15.2,0
朱诺,转出,,24.2,8
青苔,在所,2,20.3,7
奥蒂,在所,6,29.0,4
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
  "came_back": [],
  "scale_wrong": [
    "2025-03-03",
    "2025-03-18"
  ],
  "total_doses": 31,
  "next_course": {
    "name": "图利",
    "last_day": "2025-07-02"
  }
}
JSON
#: 表和问题的答案放在 results/ 里，交接稍后写。
