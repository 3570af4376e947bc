# 逐个版本试，补上测试和报告。
#--- 逐个版本试
cd work/fares && printf 'id,zones,kind\n1,4,child\n2,5,group\n' > ../probe.csv && for tag in $(git tag); do git checkout -q $tag; echo $tag $(python3 -B fares.py ../probe.csv 2>&1 | head -n 1); done; git checkout -q main; git log -1 --format='%H %an %as' -- money.py; git log -p --all --format='%h %an %as %s' -- money.py test_fares.py | head -c 9000
#--- 结论
mkdir -p results
cat > results/finding.json <<'JSON'
{
  "culprit": "e243675a9cfedca92bc50bcb6e82cb1b36064edd",
  "author": "应秋实",
  "date": "2024-07-08",
  "masked_by": "7e4a6dbec24207a8127bb8923db78bdf446da28f",
  "affected_releases": [
    "v1.2",
    "v1.4",
    "v1.5"
  ],
  "last_good_release": "v1.3",
  "earlier": {
    "introduced": "2505872acb7c6cad2d95eba225d5385b9ce7f05a",
    "reverted": "90caa8dda1d2403f287c618c53a8b0eb2e54189c"
  },
  "unfinished_fix": "wip/jinwei"
}
JSON
#--- 补丁
cd work/fares && git checkout -q . && sed -i 's/import Decimal/import ROUND_HALF_UP, Decimal/; s/quantize(CENT)/quantize(CENT, ROUND_HALF_UP)/' money.py && sed -i 's/3\.22/3.23/' test_fares.py && python3 -B -m pytest -q -p no:cacheprovider && git diff > ../../results/fix.patch; cat ../../results/fix.patch
#--- 报告
cat > results/report.md <<'MD'
# 票价少收一分的原因

从 v1.4 起，半分不再进一，而是取到偶数分。应秋实 2024 年 7 月 8 日的提交“金额函数单独成模块”漏掉了进位方式，第二天的提交又改了测试里的儿童票价，所以没人发现。
v1.4、v1.5 受影响。春天的 v1.2 也有同样现象，原因是改用浮点数，v1.3 之前已撤销。

补丁发布之前，请先退回 **v1.3**。wip/jinwei 分支上的修法没做完，会把每区单价也进位，不能直接用。

另外 2024 年 2 月 2 日的 deploy.env 里有过服务器密码，历史里还在，请更换。
MD
#: 现在的毛病是 7 月 8 日“金额函数单独成模块”带来的（v1.4、v1.5），v1.3 是最后一个好版本。补丁和报告在 results/。2024 年 2 月的 deploy.env 里有过密码。
