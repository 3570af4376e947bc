"""nanobot: its command line in one process a turn, the prompt handed over inside that process.

nanobot takes a prompt as an argument only, so a line of Python reads it from standard input and
calls the same entry point. Its own files (SOUL.md, memory, a git store) live in its home, and the
task's workspace is the project it works on, so nothing of it litters the work. It ends with code 0
when the model failed, so its transcript decides.
"""

import base64
import json
import shlex
from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.harnesses.chat_lines import after_message, write_chat
from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import dict_at, int_at, text_at
from uniclaw.harnesses.launcher import Command, Launched, parse_object
from uniclaw.harnesses.recorder import Recorder
from uniclaw.records import Usage

_SESSION = "cli:uniclaw"
_MODEL_FAILED = "[Assistant reply unavailable due to model error.]"
_MAX_BYTES = 30_000_000
_READ_S = 60.0
_DRIVER = """
import os, sys
from nanobot.security import workspace_access as access
whole = access.default_workspace_scope
def scope(workspace, restrict, **more):
    return whole(os.getcwd(), restrict, **more)
access.default_workspace_scope = scope
prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
sys.argv = ["nanobot", "agent", "--no-markdown", "--session", sys.argv[1], "-m", prompt]
from nanobot.cli.entry import main
sys.exit(main())
"""


class Nanobot(BasicProgram):
    """See `cli.Program`."""

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._message = ""

    def files(self) -> Mapping[str, bytes]:
        """`config.json`."""
        home = f"{self.seating.home}/.nanobot"
        preset: dict[str, JsonValue] = {
            "provider": "custom",
            "model": self.door.model,
            "contextWindowTokens": self.door.context_tokens,
        }
        custom: dict[str, JsonValue] = {
            "apiKey": self.door.token,
            "apiBase": f"{self.door.url}/v1",
        }
        config: dict[str, JsonValue] = {
            "providers": {"custom": custom},
            "modelPresets": {"main": preset},
            "agents": {"defaults": {"modelPreset": "main", "workspace": f"{home}/workspace"}},
        }
        return {f"{home}/config.json": json.dumps(config).encode()}

    async def command(self, message: str, *, first: bool) -> Command:
        """Every turn is the same command in the same session."""
        self._message = message
        return Command(
            argv=["/opt/nanobot/bin/python", "-c", _DRIVER, _SESSION],
            stdin=message,
            env={"TIKTOKEN_CACHE_DIR": "/opt/nanobot/tiktoken", "NO_COLOR": "1"},
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """The session's file; its first line holds the usage of the last turn."""
        name = base64.urlsafe_b64encode(_SESSION.encode()).decode().rstrip("=")
        folder = shlex.quote(f"{self.seating.home}/.nanobot/sessions")
        read = await self.seating.environment.exec(
            f"cat {folder}/*/{name}.jsonl", timeout_s=_READ_S, max_bytes=_MAX_BYTES
        )
        lines = [parse_object(x) for x in read.stdout.decode("utf-8", "replace").splitlines()]
        records = [line for line in lines if line is not None]
        messages = [r for r in records if text_at(r, "role")]
        turn = after_message(messages, self._message) if messages else []
        record.at(done.duration_s)
        said = write_chat(turn, record)
        if said.strip() == _MODEL_FAILED or (not turn and done.exit_code == 0):
            return Report("", done.text("out").strip()[-2000:] or "no answer", None)
        usage = next((_usage(r) for r in records if text_at(r, "_type") == "metadata"), None)
        return Report(said, None, usage)


def _usage(record: dict[str, JsonValue]) -> Usage:
    last = dict_at(record, "metadata", "_last_usage")
    cached, written = int_at(last, "cache_read_tokens"), int_at(last, "cache_write_tokens")
    return Usage(
        input=max(0, int_at(last, "input_tokens") - cached - written),
        cache_read=cached,
        cache_write=written,
        output=int_at(last, "output_tokens"),
    )
