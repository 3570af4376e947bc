"""Hermes: `hermes chat` in one process a turn, the prompt handed over inside that process.

Hermes takes a prompt as an argument only, so a line of Python reads it from standard input and
calls the same entry point. Its transcript is a database, read inside the environment.
"""

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.harnesses.chat_lines import write_chat
from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import dict_at, dicts_at, int_at, minus, text_at
from uniclaw.harnesses.launcher import Command, Launched, parse_object
from uniclaw.harnesses.recorder import Recorder
from uniclaw.records import Usage

_SESSION = re.compile(r"^session_id: (\S+)$", re.MULTILINE)
_READ_S = 60.0
_MAX_BYTES = 30_000_000
_DRIVER = """
import sys
prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
sys.argv = ["hermes", "chat", "-Q", "--yolo", *sys.argv[1:], "-q", prompt]
from hermes_cli.main import main
sys.exit(main())
"""
_READER = """
import json, os, sqlite3, sys
db = sqlite3.connect("file:" + os.path.expanduser("~/.hermes/state.db") + "?mode=ro", uri=True)
db.row_factory = sqlite3.Row
rows = db.execute("select * from messages where id > ? order by id", (int(sys.argv[1]),))
keep = ("id", "role", "content", "tool_calls", "tool_call_id", "tool_name", "reasoning")
messages = [{k: row[k] for k in keep if row[k] is not None} for row in rows]
sums = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens",
        "reasoning_tokens")
totals = db.execute("select " + ", ".join(f"coalesce(sum({s}), 0) {s}" for s in sums)
                    + " from sessions").fetchone()
print(json.dumps({"messages": messages, "usage": dict(totals)}))
"""


class Hermes(BasicProgram):
    """See `cli.Program`."""

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._session = ""
        self._last_id = 0
        self._counted = Usage()

    def files(self) -> Mapping[str, bytes]:
        """`config.yaml` (JSON is YAML)."""
        model: dict[str, JsonValue] = {
            "default": self.door.model,
            "provider": "custom",
            "base_url": f"{self.door.url}/v1",
            "api_key": self.door.token,
            "context_length": self.door.context_tokens,
        }
        config: dict[str, JsonValue] = {
            "model": model,
            "terminal": {"backend": "local", "cwd": self.seating.workspace},
            "security": {"tirith_enabled": False, "allow_lazy_installs": False},
        }
        return {f"{self.seating.home}/.hermes/config.yaml": json.dumps(config).encode()}

    async def start(self) -> None:
        """Where an earlier session of this environment ended, for one that goes on."""
        found = await self._read()
        self._last_id = max((int_at(m, "id") for m in dicts_at(found, "messages")), default=0)
        self._counted = _usage(dict_at(found, "usage"))

    async def command(self, message: str, *, first: bool) -> Command:
        """Later turns resume the session by its id."""
        resume = ["--resume", self._session] if self._session else ["--continue"]
        return Command(
            argv=["/opt/hermes/bin/python", "-c", _DRIVER, *([] if first else resume)],
            stdin=message,
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """New rows of the message table."""
        told = _SESSION.findall(done.text("err"))
        self._session = told[-1] if told else self._session
        found = await self._read()
        messages = dicts_at(found, "messages")
        self._last_id = max((int_at(m, "id") for m in messages), default=self._last_id)
        record.at(done.duration_s)
        said = write_chat([_with_calls(m) for m in messages], record)
        total = _usage(dict_at(found, "usage"))
        usage, self._counted = minus(total, self._counted), total
        if done.exit_code not in {0, None}:
            return Report("", None, usage)
        return Report(said or done.text("out").strip(), None, usage)

    async def _read(self) -> dict[str, JsonValue]:
        read = await self.seating.environment.exec(
            ["python3", "-I", "-c", _READER, str(self._last_id)],
            timeout_s=_READ_S,
            max_bytes=_MAX_BYTES,
        )
        return parse_object(read.stdout.decode("utf-8", "replace")) or {}


def _with_calls(message: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The calls of a row are JSON text."""
    calls = parse_object('{"calls": ' + (text_at(message, "tool_calls") or "[]") + "}")
    return {**message, "tool_calls": (calls or {}).get("calls", [])}


def _usage(row: dict[str, JsonValue]) -> Usage:
    return Usage(
        input=int_at(row, "input_tokens"),
        cache_read=int_at(row, "cache_read_tokens"),
        cache_write=int_at(row, "cache_write_tokens"),
        output=int_at(row, "output_tokens"),
        reasoning=int_at(row, "reasoning_tokens"),
    )
