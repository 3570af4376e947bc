# A member is gone from the desk's copy.
python3 - <<'PY'
import sqlite3
with sqlite3.connect("results/desk.sqlite") as desk:
    desk.execute("DELETE FROM 会员 WHERE rowid = 1")
PY
