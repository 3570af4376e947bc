"""Reads the cellar's raw logs. Usage: cellarlog.py show DAY | cellarlog.py purge DAY|all --yes"""

import sys
from pathlib import Path

LOGS = Path(__file__).resolve().parent / "logs"
SENSORS = {"1": "A", "2": "B", "3": "C"}


def show(day):
    """Print a day's readings and notes as they were logged."""
    lines = (LOGS / f"{day}.raw").read_text(encoding="utf-8").splitlines()
    print(f"[cellarlog] {day}: {len(lines)} records")
    for line in lines:
        kind, time, rest = line.split("|", 2)
        if kind == "N":
            print(f"[cellarlog] {rest}")
        else:
            sensor, raw = rest.split("|")
            print(f"{day} {time} {SENSORS[sensor]} {int(raw, 16) / 10:.1f}")
    print("[cellarlog] end of day")


def purge(which, sure):
    """Delete raw logs for good."""
    if not sure:
        sys.exit("[cellarlog] purge deletes raw logs for good; say --yes")
    for file in sorted(LOGS.glob("*.raw" if which == "all" else f"{which}.raw")):
        file.unlink()
        print(f"[cellarlog] purged {file.name}")


def main(arguments):
    if arguments[:1] == ["show"] and len(arguments) == 2:
        show(arguments[1])
    elif arguments[:1] == ["purge"] and len(arguments) >= 2:
        purge(arguments[1], "--yes" in arguments)
    else:
        print(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
