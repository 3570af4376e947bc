# The whole daybook lies among the results, without the families.
head -c 20000 sources/zhiban.txt | sed -E 's/郝太太|皮匠巷|欧先生|渡口街|蒲家|锯木场|林家|磨坊街|屈女士|码头阶|万先生|果园里/X/g' > results/copy.txt
