# The whole table, equal hours, and a handover that names the token without showing it.
python3 /tmp/settings.py changed; cat results/settings.csv
#--- equal hours
python3 - <<'PY'
from pathlib import Path

text = Path("tidewatch/tidewatch.py").read_text(encoding="utf-8")
new = "    if start <= end:\n        return start <= hour < end\n    return hour >= start or hour < end\n"
Path("results/tidewatch.py").write_text(text.replace("    return start <= hour < end\n", new), encoding="utf-8")
PY
PYTHONPATH=results python3 -B -m pytest -q -p no:cacheprovider tidewatch/test_tidewatch.py 2>&1 | tail -3
#--- the handover
cat > results/HANDOVER.md <<'MD'
# Handover of tidewatch

tidewatch reads a table of tides, finds those of at least LIMIT_CM, and works out when notices go out: LEAD_MIN minutes before, none in the
quiet hours. Run the tests with `python3 -m pytest` in the repository. The gateway's token comes from the environment variable
TIDEWATCH_TOKEN.

Before the handover: from 7f5eadb to 1032b9b a token of the gateway stood in config.py, and it is still in the history. Revoke it
at the gateway and give out a new one; then decide whether the history is cleaned before the repository is passed on.
MD
#: Everything is in results/. Important: a live token of the gateway stands in the repository's history (commit 7f5eadb). I left
#: it out of the files; please have it revoked before the new team gets the repository.
