"""Run one command of the process adapter under its own first process.

Must not know paths of an environment; the caller gives a host directory and variables.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

from uniclaw.environments import process_init
from uniclaw.environments.output import HeadTail, Stream

_INIT = str(Path(process_init.__file__))
_READ_BYTES = 1 << 16
_GRACE_S = 0.1
_ORDER_S = 10.0
_DRAIN_S = 2.0
_POLL_S = 0.02


class Done(NamedTuple):
    """What a command left."""

    exit_code: int | None
    output: HeadTail
    timed_out: bool
    duration_s: float


class Group:
    """A command and all its descendants, under a first process that adopts daemons."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        report_read, report_write = os.pipe2(os.O_CLOEXEC)
        orders_read, orders_write = os.pipe2(os.O_CLOEXEC)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", _INIT, str(report_write), str(orders_read), *argv],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env=dict(env),
                pass_fds=(report_write, orders_read),
                start_new_session=True,
                bufsize=0,
            )
        except BaseException:
            os.close(report_read)
            os.close(orders_write)
            raise
        finally:
            os.close(report_write)
            os.close(orders_read)
        os.set_blocking(report_read, False)
        self._report = report_read
        self._orders = orders_write
        self._said = b""
        self._obeyed = 0
        self.exit_code: int | None = None
        self._order_lock = threading.Lock()
        self._report_lock = threading.Lock()

    @property
    def alive(self) -> bool:
        """Whether anything of it lives."""
        return self._process.poll() is None

    def streams(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        """The command's stdin, stdout and stderr."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        return process.stdin, process.stdout, process.stderr

    @property
    def report(self) -> int:
        """Descriptor that becomes readable when the command ends."""
        return self._report

    def read_report(self) -> bool:
        """Take what the first process said; False when it is gone."""
        with self._report_lock:
            try:
                said = os.read(self._report, 4096)
            except BlockingIOError:
                return True
            if not said and self.exit_code is None:
                # The first process was killed, which only the command itself can have done.
                self.exit_code = -signal.SIGKILL
            *lines, self._said = (self._said + said).split(b"\n")
            for line in lines:
                if line.lstrip(b"-").isdigit():
                    self.exit_code = int(line)
                else:
                    self._obeyed += 1
            return bool(said)

    def order(self, letter: bytes) -> None:
        """Have an order carried out on all descendants, and wait until it is."""
        with self._order_lock:
            before = self._obeyed
            try:
                os.write(self._orders, letter)
            except OSError:
                return
            deadline = time.monotonic() + _ORDER_S
            # Another thread may read the answer; it is counted all the same.
            while self._obeyed == before and time.monotonic() < deadline:
                select.select([self._report], [], [], _POLL_S)
                if not self.read_report():
                    return

    def end(self) -> None:
        """Kill everything of it and release the descriptors."""
        if self.alive:
            self.order(b"K")
        with contextlib.suppress(OSError):
            os.close(self._orders)
        try:
            self._process.wait(_ORDER_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            os.close(self._report)
        self.close_streams()

    def close_streams(self) -> None:
        """Stop reading and writing."""
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def run(
    group: Group, *, stdin: bytes, timeout_s: float, max_bytes: int, abort: threading.Event
) -> Done:
    """Feed and read a command to its end; past the time everything of it is killed."""
    began = time.monotonic()
    feeder = _Feeder(group, stdin, HeadTail(max_bytes))
    over: float | None = None
    timed_out = False
    while not feeder.finished:
        now = time.monotonic()
        if group.exit_code is not None and over is None:
            # A child may hold the output open; what is on its way is still read.
            over = now + _GRACE_S
        if over is not None and now > over:
            break
        if abort.is_set() or (not timed_out and over is None and now >= began + timeout_s):
            timed_out = not abort.is_set()
            group.order(b"K")
            over = now + _DRAIN_S
        feeder.step(0.05 if over is not None else min(0.25, began + timeout_s - now))
    duration = time.monotonic() - began
    group.close_streams()
    code = group.exit_code
    if code is not None and code < 0:
        code = 128 - code
    return Done(code, feeder.output, timed_out, duration)


class _Feeder:
    """Moves bytes of one command."""

    def __init__(self, group: Group, stdin: bytes, output: HeadTail) -> None:
        self._group = group
        self.output = output
        inlet, stdout, stderr = group.streams()
        self._inlet = inlet
        self._outlets: dict[int, Stream] = {stdout.fileno(): "stdout", stderr.fileno(): "stderr"}
        self._pending = memoryview(stdin)
        for descriptor in (inlet.fileno(), *self._outlets):
            os.set_blocking(descriptor, False)
        if not self._pending:
            self._end_input()

    @property
    def finished(self) -> bool:
        return not self._outlets and self._group.exit_code is not None

    def step(self, wait_s: float) -> None:
        reading = [*self._outlets]
        if self._group.exit_code is None:
            reading.append(self._group.report)
        writing = [self._inlet.fileno()] if self._pending else []
        ready, writable, _ = select.select(reading, writing, [], max(wait_s, 0))
        if writable:
            self._write()
        for descriptor in ready:
            if descriptor == self._group.report:
                self._group.read_report()
                continue
            data = os.read(descriptor, _READ_BYTES)
            if data:
                self.output.add(self._outlets[descriptor], data)
            else:
                del self._outlets[descriptor]

    def _write(self) -> None:
        try:
            self._pending = self._pending[os.write(self._inlet.fileno(), self._pending[:65536]) :]
        except BlockingIOError:
            return
        except OSError:
            # It ended without reading its input.
            self._pending = memoryview(b"")
        if not self._pending:
            self._end_input()

    def _end_input(self) -> None:
        with contextlib.suppress(OSError):
            self._inlet.close()
