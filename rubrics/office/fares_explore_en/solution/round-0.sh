# A first attempt blames the change to floats, which was reverted long ago, and has no patch yet.
git clone -q sources/fares.bundle work/fares && cd work/fares && git log --oneline --graph --all && git tag -n && git branch -a
#--- what changed
cd work/fares && git log -p --reverse main -- fares.py money.py test_fares.py | head -c 28000
#--- the finding
mkdir -p results
cat > results/finding.json <<'JSON'
{
  "culprit": "ac7d3c0e879580bfca740df45253570f2f9b31cc",
  "author": "Noor Bakker",
  "date": "2024-04-11",
  "masked_by": null,
  "affected_releases": [
    "v1.2"
  ],
  "last_good_release": "v1.1",
  "earlier": null,
  "unfinished_fix": "wip/rounding"
}
JSON
#: The change to floats did it; see results/finding.json.
