# The cancelled job is confirmed at the desk.
python3 - <<'PY'
import sqlite3
with sqlite3.connect("results/desk.sqlite") as desk:
    desk.execute("UPDATE jobs SET status = 'confirmed' WHERE ref = 'W-303'")
PY
