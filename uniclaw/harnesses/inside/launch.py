"""Runs a harness program inside the environment, as its parent. Standard library only.

Standard input holds a JSON object: `argv`, `env`, `stdin` (text), `final` (keys, with dots,
and the values that a line of output must hold as JSON to end the turn; under an empty key the whole
line; or null), `grace_s`,
`max_line`, `max_bytes`. Standard output gets one JSON object a line: `{"t": seconds, "out"|"err":
text}` for each line of the program, and at last `{"t": .., "exit": code, "ended": "exit"|"final",
"dropped": bytes}`. A program that wrote its final line, fell silent, and does not end is killed
after the grace, with its process group.
"""

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import cast

SETTLE_S = 0.5
PIECE = 1 << 16


class Relay:
    """Writes the program's lines, with their times and within limits."""

    def __init__(self, final: "dict[str, list[str]] | None", max_line: int, max_bytes: int) -> None:
        self.start = time.monotonic()
        self.final = final
        self.final_at: float | None = None
        """When the last line came, once the final one was among them."""
        self.max_line = max_line
        self.left = max_bytes
        self.dropped = 0
        self.partial = {"out": bytearray(), "err": bytearray()}

    def write(self, **fields: object) -> None:
        """Write one record."""
        record = {"t": round(time.monotonic() - self.start, 3), **fields}
        sys.stdout.write(json.dumps(record) + "\n")
        sys.stdout.flush()

    def feed(self, stream: str, data: bytes) -> None:
        """Take a piece of a stream, which may end anywhere."""
        buffer = self.partial[stream]
        for piece in data.splitlines(keepends=True) if b"\n" in data else [data]:
            room = max(0, self.max_line - len(buffer))
            self.dropped += max(0, len(piece) - room - 1)
            buffer += piece[:room]
            if piece.endswith(b"\n"):
                self.end_line(stream)

    def end_line(self, stream: str) -> None:
        """Pass the line on."""
        line = bytes(self.partial[stream]).rstrip(b"\r\n")
        self.partial[stream].clear()
        if len(line) > self.left:
            self.dropped += len(line)
            return
        self.left -= len(line)
        text = line.decode("utf-8", "replace")
        self.write(**{stream: text})
        if self.final_at is not None or (stream == "out" and self.is_final(text)):
            self.final_at = time.monotonic()

    def is_final(self, text: str) -> bool:
        """Whether the line ends the turn, by its own keys and not by what it quotes."""
        if not self.final:
            return False
        if "" in self.final:
            return text in self.final[""]
        if not text.startswith("{"):
            return False
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            return False
        for path, values in self.final.items():
            value: object = record
            for key in path.split("."):
                value = (
                    cast("dict[str, object]", value).get(key) if isinstance(value, dict) else None
                )
            if value not in values:
                return False
        return True

    def finish(self) -> None:
        """Pass on what had no line end."""
        for stream, rest in self.partial.items():
            if rest:
                self.end_line(stream)


def feed_input(process: "subprocess.Popen[bytes]", text: str) -> None:
    """Write the prompt and close; a program that does not read it is its own affair."""
    assert process.stdin is not None
    try:
        process.stdin.write(text.encode("utf-8", "replace"))
        process.stdin.close()
    except OSError:
        pass


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """End the program's group, first politely."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        if number == signal.SIGTERM:
            try:
                process.wait(1.0)
            except subprocess.TimeoutExpired:
                continue


def run(given: "dict[str, object]") -> None:
    """Run the program to its end."""
    relay = Relay(given["final"], given["max_line"], given["max_bytes"])  # type: ignore[arg-type]
    try:
        process = subprocess.Popen(
            given["argv"],  # type: ignore[arg-type]
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **given["env"]},  # type: ignore[dict-item]
            start_new_session=True,
        )
    except OSError as error:
        relay.write(err=f"cannot start: {error}")
        relay.write(exit=127, ended="exit", dropped=0)
        return
    feeder = threading.Thread(target=feed_input, args=(process, given["stdin"]), daemon=True)
    feeder.start()
    ended = pump(process, relay, float(given["grace_s"]))  # type: ignore[arg-type]
    if ended == "final":
        kill_group(process)
    relay.finish()
    relay.write(exit=process.wait(), ended=ended, dropped=relay.dropped)


def pump(process: "subprocess.Popen[bytes]", relay: Relay, grace_s: float) -> str:
    """Pass lines on until the program ended, or stayed on past its final line."""
    over_at: float | None = None
    with selectors.DefaultSelector() as selector:
        for name, stream in (("out", process.stdout), ("err", process.stderr)):
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ, name)
        while True:
            for key, _ in selector.select(0.05):
                data = os.read(key.fd, PIECE)
                if data:
                    relay.feed(key.data, data)
                else:
                    selector.unregister(key.fileobj)
            now = time.monotonic()
            if process.poll() is not None:
                over_at = over_at or now
                # A child that lives on may hold the output open: what is on its way is enough.
                if not selector.get_map() or now - over_at > SETTLE_S:
                    return "exit"
            elif relay.final_at is not None and now - relay.final_at > grace_s:
                return "final"
            elif not selector.get_map():
                time.sleep(0.05)


if __name__ == "__main__":
    run(json.load(sys.stdin))
