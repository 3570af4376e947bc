# The handover says who has one of them.
echo '林家' >> results/jiaojie.md
