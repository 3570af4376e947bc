# A first attempt: the table leaves out changed settings that were there before; the fix breaks equal hours.
git -C tidewatch log --reverse --date=short --format='%h %ad %s' --stat
#--- settings over time, the token masked as it is printed
git -C tidewatch log --reverse -p --format='%h' -- config.py | sed -E 's/hl_live_[A-Za-z0-9]+/(secret)/g'
#--- the tests
cd tidewatch && python3 -B -m pytest -q -p no:cacheprovider 2>&1 | tail -5
#--- the table
mkdir -p results
cat > /tmp/settings.py <<'PY'
import csv, re, subprocess, sys

changed_too = "changed" in sys.argv


def git(*words):
    return subprocess.run(["git", "-C", "tidewatch", *words], capture_output=True, text=True, check=True).stdout


rows, before = [], {}
for line in git("log", "--reverse", "--date=short", "--format=%H %ad", "--", "config.py").splitlines():
    commit, date = line.split()
    text = re.sub(r'"hl_live_\w+"', "(secret)", git("show", f"{commit}:config.py"))
    now = dict(re.findall(r"^([A-Z_]+) = (.+)$", text, re.M))
    for name, value in now.items():
        old = before.get(name, "")
        if value != old and (changed_too or not old):
            rows.append([commit[:7], date, name, old, value])
    before = now
with open("results/settings.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["commit", "date", "setting", "old", "new"])
    writer.writerows([r[0], r[1], r[2], r[3].strip('"'), r[4].strip('"')] for r in rows)
PY
python3 /tmp/settings.py; cat results/settings.csv
#--- the fix
sed 's/    return start <= hour < end/    return start <= hour < end if start < end else hour >= start or hour < end/' tidewatch/tidewatch.py > results/tidewatch.py
#: Table and module are in results/. The handover is still missing.
