# 第一版：毛病找到了，测试怎么漏掉的没查，补丁也没改测试。
git clone -q sources/fares.bundle work/fares && cd work/fares && git log --oneline --graph --all && git tag -n && git branch -a
#--- 每次改了什么
cd work/fares && git log -p --reverse main -- fares.py money.py test_fares.py | head -c 28000
#--- 结论
mkdir -p results
cat > results/finding.json <<'JSON'
{
  "culprit": "e243675a9cfedca92bc50bcb6e82cb1b36064edd",
  "author": "应秋实",
  "date": "2024-07-08",
  "masked_by": null,
  "affected_releases": [
    "v1.4",
    "v1.5"
  ],
  "last_good_release": "v1.3",
  "earlier": null,
  "unfinished_fix": "wip/jinwei"
}
JSON
#--- 补丁
cd work/fares && git checkout -q . && sed -i 's/import Decimal/import ROUND_HALF_UP, Decimal/; s/quantize(CENT)/quantize(CENT, ROUND_HALF_UP)/' money.py && git diff > ../../results/fix.patch; cat ../../results/fix.patch
#: 找到了，是 7 月 8 日的提交，结论和补丁在 results/。
