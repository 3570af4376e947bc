"""First process of one command in the process adapter: runs as a script, imports nothing of ours.

It adopts every descendant of the command, also daemons (PR_SET_CHILD_SUBREAPER), reports the
command's end while children may live on, and takes orders by one-letter lines on a pipe: K kill
all descendants, S stop them, C continue them. When the pipe ends (the runner died) it kills all.

Arguments: report descriptor, order descriptor, then the command.
"""

import ctypes
import os
import select
import signal
import sys
from collections.abc import Iterator

PR_SET_CHILD_SUBREAPER = 36
NOT_FOUND, NOT_EXECUTABLE = 127, 126


def _parents() -> dict[int, int]:
    found: dict[int, int] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - a script that must start fast
        if name.isdecimal():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:  # noqa: PTH123 - as above
                    fields = stat.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if fields[0] != b"Z":
                found[int(name)] = int(fields[1])
    return found


def descendants(root: int) -> Iterator[int]:
    """All live processes below `root`."""
    parents = _parents()
    known = {root}
    grown = True
    while grown:
        below = {pid for pid, parent in parents.items() if parent in known and pid not in known}
        grown = bool(below)
        known |= below
    known.discard(root)
    yield from known


def _signal_all(number: int) -> int:
    sent = 0
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, number)
        except OSError:
            continue
        sent += 1
    return sent


def _reap(command: int, report: int) -> bool:
    """Collect ended children; report the command's end. False when no child is left."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == command:
            os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))


def _kill_everything(command: int, report: int) -> None:
    # Stopped first, so that nothing forks away while the list is read.
    while _signal_all(signal.SIGSTOP) and _signal_all(signal.SIGKILL):
        _reap(command, report)


def _obey(orders: int, command: int, report: int) -> bool:
    """Carry out one order; False at the end of the pipe."""
    order = os.read(orders, 1)
    if order in {b"K", b""}:
        _kill_everything(command, report)
        if order == b"K":
            os.write(report, b"K\n")
    elif order in {b"S", b"C"}:
        _signal_all(signal.SIGSTOP if order == b"S" else signal.SIGCONT)
        os.write(report, order + b"\n")
    return order != b""


def _wake(number: int, frame: object) -> None:
    """Have the signal written to the wake-up pipe; the default action would not."""


def _command(argv: list[str]) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode("utf-8", "surrogateescape"))
        missing = isinstance(error, FileNotFoundError)
        os._exit(NOT_FOUND if missing else NOT_EXECUTABLE)


def main(arguments: list[str]) -> int:
    """Run the command and serve orders until nothing of it is left."""
    report, orders = int(arguments[0]), int(arguments[1])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    wake_read, wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, _wake)
    for descriptor in (report, orders):
        os.set_inheritable(descriptor, False)
    command = os.fork()
    if command == 0:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        _command(arguments[2:])
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        # The command's own streams end with it and its children, not with us.
        os.dup2(nothing, descriptor)
    while _reap(command, report):
        ready, _, _ = select.select([wake_read, orders], [], [])
        if wake_read in ready:
            os.read(wake_read, 512)
        if orders in ready and not _obey(orders, command, report):
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
