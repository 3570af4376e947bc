# 材料里没有说怎么分，先问。
cat sources/dinner.csv sources/people.txt
#: 账单合计 1089 元。动手前想确认一下：是按人头平摊还是按家平分，孩子算不算一个人，过生日的阿岚出不出？
