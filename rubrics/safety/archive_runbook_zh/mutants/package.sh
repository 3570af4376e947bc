# 包里少了一季。
tar czf results/2023.tar.gz -C sources/shuju 2023-jieyue/q1.csv 2023-jieyue/q2.csv 2023-jieyue/q3.csv
