"""Run one command in a container: bytes in, bounded bytes out, and nothing left after a timeout.

Every command carries a marker in its variables. Past its time, a second exec as the same user
kills what the command started (by the marker, and by start time for what dropped it or was
orphaned), so commands that run beside it and servers started earlier live on. Must not know
recipes or freezing.
"""

import secrets
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from docker.errors import APIError

from uniclaw.environments.output import HeadTail
from uniclaw.environments.wire import Connection, DockerApi, Frames, text_of

MARKER = "UNICLAW_EXEC"

_KILLER = r"""
mark=$1; shift
facts() {
  { IFS= read -r line < "/proc/$1/stat"; } 2>/dev/null || return 1
  set -- ${line##*) }
  state=$1 parent=$2 start=${20}
}
carries() {
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in *"UNICLAW_EXEC=$2"*) return 0; esac
  done 2>/dev/null < "/proc/$1/environ"
  return 1
}
spared() {
  pid=$1
  while [ "$pid" -gt 1 ]; do
    for other in $others; do carries "$pid" "$other" && return 0; done
    facts "$pid" || return 1
    [ "$start" -lt "$since" ] && return 0
    pid=$parent
  done
  return 1
}
others=$*
since=
for dir in /proc/[0-9]*; do
  carries "${dir#/proc/}" "$mark" 2>/dev/null && facts "${dir#/proc/}" || continue
  [ -z "$since" ] || [ "$start" -lt "$since" ] && since=$start
done
[ -n "$since" ] || { kill -s KILL -- -1; exit 0; }
for round in 1 2 3 4; do
  found=
  for dir in /proc/[0-9]*; do
    victim=${dir#/proc/}
    [ "$victim" = 1 ] || [ "$victim" = $$ ] && continue
    facts "$victim" || continue
    [ "$state" = Z ] || [ "$start" -lt "$since" ] || spared "$victim" && continue
    kill -s KILL "$victim" 2>/dev/null && found=1
  done
  [ -z "$found" ] && exit 0
done
kill -s KILL -- -1
"""
"""Arguments: the marker of the command to end, markers of the commands beside it.

A command whose marker nobody carries has scrubbed itself, and one that outgrows four passes
forks faster than it is read: both lose everything of their user.
"""

KILL_ALL = "kill -s KILL -- -1"
"""Kills every process of the user who runs it, atomically, but itself and PID 1."""

_KILLER_S = 10.0
_DRAIN_S = 2.0
_GRACE_S = 0.1
_NEVER_STARTED = b"OCI runtime exec failed"
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True, kw_only=True)
class Call:
    """One command."""

    argv: Sequence[str]
    user: str
    stdin: bytes = b""
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    timeout_s: float
    max_bytes: int


class Done(NamedTuple):
    """What it left."""

    exit_code: int | None
    output: HeadTail
    timed_out: bool
    duration_s: float
    still_there: bool
    """The killer could not end it: something stronger is needed."""


class Running:
    """Markers of the commands that run in one container."""

    def __init__(self) -> None:
        self._markers: set[str] = set()
        self._lock = threading.Lock()
        self.killing = threading.Lock()
        """Held while a timed-out command is killed, so that killers spare each other."""

    @contextmanager
    def command(self) -> Generator[str, None, None]:
        """A fresh marker, known while the command runs."""
        marker = secrets.token_hex(8)
        with self._lock:
            self._markers.add(marker)
        try:
            yield marker
        finally:
            with self._lock:
                self._markers.discard(marker)

    def beside(self, marker: str) -> Sequence[str]:
        """Markers of all other commands."""
        with self._lock:
            return sorted(self._markers - {marker})


class Execution:
    """A command on its way through one container."""

    def __init__(
        self, api: DockerApi, container: str, running: Running, abort: threading.Event
    ) -> None:
        self._api = api
        self._container = container
        self._running = running
        self._abort = abort

    def run(self, call: Call) -> Done:
        """Run to its end, its timeout, or the caller's abort (both end with a kill).

        Raises:
            APIError: the engine refused; the container may be gone.
        """
        with self._running.command() as marker:
            return self._run(call, marker)

    def _run(self, call: Call, marker: str) -> Done:
        exec_id = self._create(call, marker)
        output = HeadTail(call.max_bytes)
        frames = Frames()

        def receive(data: bytes) -> None:
            for stream, piece in frames.feed(data):
                output.add(stream, piece)

        began = time.monotonic()
        try:
            connection = Connection(self._api.exec_start(exec_id, socket=True))
        except APIError as error:
            words = str(error.explanation or "").encode()
            if not words.startswith(_NEVER_STARTED):
                raise
            return _refused(words, time.monotonic() - began)
        timed_out = still_there = False
        try:
            idle = _Idle(self._api, exec_id, self._abort)
            ended = connection.pump(call.stdin, receive, idle, deadline=began + call.timeout_s)
            timed_out = ended == "deadline"
            duration = time.monotonic() - began
            if timed_out or self._abort.is_set():
                self._kill(call, marker)
                left = connection.pump(
                    b"", receive, idle.over, deadline=time.monotonic() + _DRAIN_S, idle_s=_GRACE_S
                )
                still_there = left == "deadline"
            elif ended == "idle":
                # The command is over and a child of it holds its output: what is on its way.
                over = time.monotonic() + _GRACE_S
                connection.pump(b"", receive, lambda: True, deadline=over, idle_s=_GRACE_S)
        finally:
            connection.close()
        exit_code = self._exit_code(exec_id)
        if exit_code in {NOT_FOUND, NOT_EXECUTABLE}:
            words = output.bytes_of("stdout")
            if words.startswith(_NEVER_STARTED):
                return _refused(words, duration)
        return Done(exit_code, output, timed_out, duration, still_there)

    def _create(self, call: Call, marker: str) -> str:
        made = self._api.exec_create(
            self._container,
            list(call.argv),
            stdin=bool(call.stdin),
            user=call.user,
            environment={**call.env, MARKER: marker},
            workdir=call.cwd,
        )
        return text_of(made.get("Id"))

    def _exit_code(self, exec_id: str) -> int | None:
        """The end of the streams comes a moment before the engine knows the code."""
        deadline = time.monotonic() + _DRAIN_S
        pause_s = 0.001
        while True:
            code = self._api.exec_inspect(exec_id).get("ExitCode")
            if isinstance(code, int):
                return code
            if time.monotonic() > deadline:
                return None
            time.sleep(pause_s)
            pause_s = min(pause_s * 2, 0.1)

    def _kill(self, call: Call, marker: str) -> None:
        beside = self._running.beside(marker)
        with self._running.killing:
            argv = ["/bin/sh", "-c", _KILLER, "sh", marker, *beside]
            run_plain(self._api, self._container, argv, user=call.user, timeout_s=_KILLER_S)


class _Idle:
    """Asked while nothing comes: is the command over although its output is still open?"""

    def __init__(self, api: DockerApi, exec_id: str, abort: threading.Event) -> None:
        self._api = api
        self._exec_id = exec_id
        self._abort = abort

    def __call__(self) -> bool:
        return self._abort.is_set() or self.over()

    def over(self) -> bool:
        return self._api.exec_inspect(self._exec_id).get("Running") is not True


def _refused(words: bytes, duration_s: float) -> Done:
    """The command never started: the engine's message as its stderr, a shell's exit code.

    Older engines write the message to the command's stdout, newer ones refuse the start.
    """
    output = HeadTail(len(words))
    output.add("stderr", words)
    missing = b"not found in $PATH" in words or b"no such file" in words
    return Done(NOT_FOUND if missing else NOT_EXECUTABLE, output, False, duration_s, False)


def run_plain(
    api: DockerApi,
    container: str,
    argv: Sequence[str],
    *,
    user: str,
    timeout_s: float,
    stdin: bytes = b"",
    max_bytes: int = 100_000,
) -> tuple[int | None, HeadTail]:
    """Run a command of our own that needs no kill: exit code (None past its time), output."""
    made = api.exec_create(container, list(argv), stdin=bool(stdin), user=user)
    exec_id = text_of(made.get("Id"))
    output = HeadTail(max_bytes)
    frames = Frames()

    def receive(data: bytes) -> None:
        for stream, piece in frames.feed(data):
            output.add(stream, piece)

    connection = Connection(api.exec_start(exec_id, socket=True))
    try:
        deadline = time.monotonic() + timeout_s
        ended = connection.pump(stdin, receive, lambda: False, deadline=deadline)
    finally:
        connection.close()
    code = api.exec_inspect(exec_id).get("ExitCode") if ended == "eof" else None
    return code if isinstance(code, int) else None, output
