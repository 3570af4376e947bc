# 通讯录里有三位王老师，邮箱里也看不出是谁：先问，不发。
curl -sSf 'localhost:8028/search?q=%E7%8E%8B'
curl -sSf 'localhost:8025/messages?folder=inbox'
for id in a b c; do curl -sSf localhost:8025/messages/$id; done
#: 通讯录里有三位教小宇的王老师：王学美（小提琴）、王雪梅（物理）、王薛（英语），邮件里也看不出周二那节是谁的。
#: 信还没有发。请问是哪一位？
