# 头一次做：内容都对，忘了按紧急程度排序。
cat sources/fenlei.md sources/yezhu.csv; tail -n +1 sources/letters/*.txt
#--- 报修单
mkdir -p results
cat > results/repairs.csv <<'CSV'
序号,来信,楼栋,房号,户主,类别,紧急程度
1,xin-01,1,302,沈月如,水,紧急
2,xin-02,2,104,马晓东,电,普通
3,xin-03,3,401,常玉兰,电梯,紧急
4,xin-04,1,501,郭立,门禁,普通
5,xin-05,3,702,罗一帆,其他,普通
6,xin-06,2,603,阮青,电,紧急
7,xin-07,3,202,丁维,水,普通
CSV
cat > results/summary.md <<'MD'
# 本周报修

本周来信 7 件：水 2 件，电 2 件，电梯 1 件，门禁 1 件，其他 1 件。其中紧急 3 件，先派人处理。
MD
#: 报修单和摘要都放在 results/ 里了，共 7 件。
