# Two more reminders.
for n in 1 2; do curl -sSf -o /dev/null localhost:8025/send -d to=secretary@marshlane.example -d subject=Reminder -d body='Well?'; done
