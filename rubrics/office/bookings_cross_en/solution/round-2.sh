# The later mail, the replies and the summary.
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
    ('P-12', 'Felix Abara', 'felix@abara.example', 'B', '2025-05-15 15:00', 90),
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
#--- mails
cat > results/replies/W-302.eml <<'EML'
From: desk@tidewater.example
To: jonas.wray@post.example
Subject: Your wheel truing on Wednesday
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Dear Jonas,

two bookings had been taken for the same stand. Your wheel truing is now on Wednesday, 14 May 2025, from 11:30 to
12:30. Sorry for the change; please write if that does not suit you.

Tidewater Cycles
EML
cat > results/replies/P-12.eml <<'EML'
From: desk@tidewater.example
To: felix@abara.example
Subject: Your headset
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Dear Felix,

of course: your headset is now booked for Thursday, 15 May 2025, at 15:00.

Tidewater Cycles
EML
cat > results/replies/W-303.eml <<'EML'
From: desk@tidewater.example
To: lena@ortiz.example
Subject: Your booking W-303
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Dear Lena,

your brake bleed on 13 May is cancelled as you asked. Enjoy the next bicycle!

Tidewater Cycles
EML
#--- summary
cat > results/summary.md <<'MD'
- W-302 (Jonas Wray) moved from 10:00 to 11:30 on Wednesday: it clashed with P-13, and Grace Lindon is a member.
- P-12 (Felix Abara) moved to Thursday 15:00, as his second mail asks.
- W-303 (Lena Ortiz) cancelled by mail.
- W-304 and P-13 were missing at the desk and are added; phone times were UTC and are now London time.
MD
#: Felix wrote twice, I had missed that he wants 15:00; corrected everywhere. Three mails and the summary are ready.
