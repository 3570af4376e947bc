# The cancelled job is confirmed at the desk.
python3 - <<'PY'
import sqlite3
with sqlite3.connect("results/desk.sqlite") as desk:
    desk.execute("UPDATE 预约 SET 状态 = '已确认' WHERE 编号 = 'X-303'")
PY
