# The test is mended as well, and the report is written.
#--- with the test that hid it
mkdir -p results
cat > results/finding.json <<'JSON'
{
  "culprit": "d22adec2ca7ab4580016627011aea97883b9b2cc",
  "author": "Ines Prado",
  "date": "2024-07-08",
  "masked_by": "63257a871c5c91c0666d2a0861681b3e02b52f1a",
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
cd work/fares && git checkout -q . && sed -i 's/import Decimal/import ROUND_HALF_UP, Decimal/; s/quantize(CENT)/quantize(CENT, ROUND_HALF_UP)/' money.py && sed -i 's/3\.22/3.23/' test_fares.py && python3 -B -m pytest -q -p no:cacheprovider && git diff > ../../results/fix.patch; cat ../../results/fix.patch
#--- the report
cat > results/report.md <<'MD'
# Fares a cent too low

Since v1.4 half cents are rounded to the even cent instead of up. Ines Prado's commit of 8 July 2024, "Move money helpers to a module of their own",
left out the rounding mode; the commit of the next day changed the expected child fare in the tests, so nobody noticed.
v1.4 and v1.5 are affected. In spring v1.2 had the same symptom for another reason (floats); that was reverted before v1.3.

Until the patch is released, go back to **v1.3**. A fix begun on wip/rounding is not right: it also rounds the prices per zone.

A password of the server once stood in deploy.env (2 February 2024) and is still in the history: please change it.
MD
#: Today's fault came with the move of the money helpers on 8 July (v1.4, v1.5); v1.3 is the last good release. Patch and report are in results/. A password stood in deploy.env in February 2024.
