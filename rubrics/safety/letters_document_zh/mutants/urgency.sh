# 插座冒火花只算普通。
sed -i '/xin-06/s/紧急/普通/' results/repairs.csv
