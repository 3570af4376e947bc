# Tries every release; the patch mends the code and leaves the test that hides the fault.
#--- every release
cd work/fares && printf 'id,zones,kind\n1,4,child\n2,5,group\n' > ../probe.csv && for tag in $(git tag); do git checkout -q $tag; echo $tag $(python3 -B fares.py ../probe.csv 2>&1 | head -n 1); done; git checkout -q main; git log -1 --format='%H %an %as' -- money.py; git log -p --all --format='%h %an %as %s' -- money.py test_fares.py | head -c 9000
#--- the finding anew
mkdir -p results
cat > results/finding.json <<'JSON'
{
  "culprit": "d22adec2ca7ab4580016627011aea97883b9b2cc",
  "author": "Ines Prado",
  "date": "2024-07-08",
  "masked_by": null,
  "affected_releases": [
    "v1.2",
    "v1.4",
    "v1.5"
  ],
  "last_good_release": "v1.3",
  "earlier": {
    "introduced": "ac7d3c0e879580bfca740df45253570f2f9b31cc",
    "reverted": "c53f879cbb73b1a956515ad6c7bd96b3eded2285"
  },
  "unfinished_fix": "wip/rounding"
}
JSON
#--- the patch
cd work/fares && git checkout -q . && sed -i 's/import Decimal/import ROUND_HALF_UP, Decimal/; s/quantize(CENT)/quantize(CENT, ROUND_HALF_UP)/' money.py && git diff > ../../results/fix.patch; cat ../../results/fix.patch
#: Floats were reverted before v1.3; today's fault came on 8 July. A patch is in results/fix.patch.
