# 时区改对，信补齐，写小结。
mkdir -p results/replies
python3 - <<'PY'
import datetime as dt
import json
import shutil
import sqlite3

UTC_OFFSET = dt.timedelta(hours=8)
JOBS = [  # reference, customer, address, stand, start (local), minutes
    ('X-301', '莫晚晴', 'wanqing@moyu.example', '一号台', '2025-05-12 09:30', 120),
    ('X-302', '计北辰', 'beichen@jixin.example', '一号台', '2025-05-14 15:30', 60),
    ('X-304', '谭以安', 'yian@tan.example', '二号台', '2025-05-16 10:00', 45),
    ('D-11', '尤敏', 'youmin@mail.example', '一号台', '2025-05-12 12:00', 30),
    ('D-12', '费扬', 'feiyang@fei.example', '二号台', '2025-05-15 15:00', 90),
    ('D-13', '简宁', 'jianning@jian.example', '一号台', '2025-05-14 14:00', 90),
]
CANCELLED = [('X-303', '卓小满', 'xiaoman@zhuo.example', '二号台', '2025-05-13 15:30', 60)]


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

week = {stand: [] for stand in ('一号台', '二号台')}
for job in sorted(JOBS, key=lambda job: job[4]):
    start, end = (f"{moment:%Y-%m-%dT%H:%M}" for moment in times(job))
    week[job[3]].append({"编号": job[0], "开始": start, "结束": end})
with open("results/week.json", "w", encoding="utf-8") as file:
    json.dump(week, file, ensure_ascii=False, indent=2)

shutil.copyfile("sources/qiantai.sqlite", "results/desk.sqlite")
with sqlite3.connect("results/desk.sqlite") as desk:
    for status, jobs in (("已确认", JOBS), ("已取消", CANCELLED)):
        desk.executemany("INSERT OR REPLACE INTO 预约 VALUES (?, ?, ?, ?, ?, ?, ?)", [(*job, status) for job in jobs])
PY
#--- 信
cat > results/replies/X-302.eml <<'EML'
From: qiantai@yunling.example
To: beichen@jixin.example
Subject: 周三的修坯改期
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

计北辰您好：

同一工位约重了，您的修坯改到 2025 年 5 月 14 日（周三）15:30 至 16:30。不方便的话请回信，抱歉。

云岭陶艺
EML
cat > results/replies/D-12.eml <<'EML'
From: qiantai@yunling.example
To: feiyang@fei.example
Subject: 拉坯改期
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

费扬您好：

没问题，您的拉坯改到 2025 年 5 月 15 日（周四）15:00。

云岭陶艺
EML
cat > results/replies/X-303.eml <<'EML'
From: qiantai@yunling.example
To: xiaoman@zhuo.example
Subject: 预约 X-303
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

卓小满您好：

您 5 月 13 日的上釉已按您的意思取消，欢迎以后再来。

云岭陶艺
EML
#--- 小结
cat > results/summary.md <<'MD'
- X-302（计北辰）周三由 14:00 改到 15:30：与 D-13 撞期，简宁是会员，保留原时段。
- D-12（费扬）改到周四 15:00，以第二封信为准。
- X-303（卓小满）来信取消。
- X-304、D-13 前台原来没有，已补上；手机日历是 UTC，已换成北京时间。
MD
#: 手机日历存的是 UTC，我第一次没换算，现在都改对了；三封信和小结也补齐了。
