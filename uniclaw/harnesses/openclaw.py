"""OpenClaw: a resident gateway of its own inside the environment, or one process a turn.

The resident way is what people run: its gateway holds the sessions and each turn is a short client.
Stopping all of the agent's processes at the end of a round ends it too; the next turn starts it
again and the session goes on from its database. Set-up is no executor time. Both ways read the
transcript from that database with Node, inside, because rows may be compressed.
"""

import json
from collections.abc import Mapping
from typing import ClassVar

from pydantic import JsonValue

from uniclaw.errors import HarnessError
from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import code_at, dict_at, dicts_at, int_at, text_at, value_at
from uniclaw.harnesses.launcher import Command, Launched, parse_object
from uniclaw.harnesses.recorder import Recorder, content_text
from uniclaw.records import Usage

SESSION = "uniclaw"
PORT = 18_789
_TOKEN = "loopback-only"
"""Of OpenClaw's own gateway; not a secret, nothing outside the environment reaches it."""
_START_S = 240.0
_STARTS = 4
_READ_S = 60.0
_MAX_BYTES = 30_000_000
_OUTPUT_TOKENS = 32_000
_INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"
"""Begins user messages that OpenClaw writes itself."""
_TURN_S = 6 * 3600

_WAIT = f"""
import os, socket, sys, time
end = time.monotonic() + float(sys.argv[1])
while True:
    try:
        socket.create_connection(("127.0.0.1", {PORT}), 1).close()
        break
    except OSError:
        gone = len(sys.argv) > 2 and not os.path.exists("/proc/" + sys.argv[2])
        if gone or time.monotonic() > end:
            sys.exit(1)
        time.sleep(0.2)
"""
_READER = r"""
const {DatabaseSync} = require("node:sqlite");
const fs = require("fs"), path = require("path"), zlib = require("zlib");
const seen = JSON.parse(process.argv[1]);
const root = path.join(process.env.HOME, ".openclaw", "agents");
const found = [];
for (const agent of fs.existsSync(root) ? fs.readdirSync(root).sort() : []) {
  const file = path.join(root, agent, "agent", "openclaw-agent.sqlite");
  if (!fs.existsSync(file)) continue;
  const db = new DatabaseSync(file, {readOnly: true});
  const rows = db.prepare(
    "select session_id s, seq n, event_json j, event_zstd z, created_at c from transcript_events"
  ).all();
  for (const row of rows) {
    if (row.n <= (seen[agent + "/" + row.s] ?? -1)) continue;
    let text = row.j;
    try {
      if (text === null) text = zlib.zstdDecompressSync(row.z).toString("utf8");
      const event = JSON.parse(text);
      found.push({agent, session: row.s, seq: row.n, created: row.c, event});
    } catch { continue; }
  }
}
found.sort((a, b) => a.created - b.created || a.seq - b.seq);
process.stdout.write(JSON.stringify({rows: found}));
"""


class OpenClaw(BasicProgram):
    """See `cli.Program`."""

    agent: ClassVar[str] = "main"
    resident: ClassVar[bool] = True

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._seen: dict[str, int] = {}
        self.state = f"{seating.home}/.openclaw"

    def settings(self) -> dict[str, JsonValue]:
        """`openclaw.json`."""
        model = self.door.model
        card: dict[str, JsonValue] = {
            "id": model,
            "name": model,
            "contextWindow": self.door.context_tokens,
            "maxTokens": _OUTPUT_TOKENS,
        }
        provider: dict[str, JsonValue] = {
            "baseUrl": f"{self.door.url}/v1",
            "apiKey": self.door.token,
            "api": "openai-completions",
            "models": [card],
        }
        defaults: dict[str, JsonValue] = {
            "model": {"primary": f"uniclaw/{model}"},
            "workspace": self.seating.workspace,
            "skipBootstrap": True,
            "heartbeat": {"every": "0m"},
        }
        gateway: dict[str, JsonValue] = {
            "mode": "local",
            "bind": "loopback",
            "port": PORT,
            "auth": {"mode": "token", "token": _TOKEN},
        }
        return {
            "models": {"providers": {"uniclaw": provider}},
            "agents": {"defaults": defaults},
            "gateway": gateway,
            "update": {"checkOnStart": False},
        }

    def files(self) -> Mapping[str, bytes]:
        """The configuration."""
        return {f"{self.state}/openclaw.json": json.dumps(self.settings()).encode()}

    async def start(self) -> None:
        """Bring up the resident gateway; remember where earlier sessions ended."""
        if self.resident:
            await self._ensure_gateway()
        await self._rows()

    async def _ensure_gateway(self) -> None:
        environment = self.seating.environment
        up = await environment.exec(["python3", "-I", "-c", _WAIT, "0"], timeout_s=_READ_S)
        if up.exit_code == 0:
            return
        log = f"{self.state}/gateway.log"
        # On a busy machine it gives up when it cannot renew its own lease within five seconds.
        for _ in range(_STARTS):
            if await self._start_gateway(log):
                return
        said = await environment.exec(f"tail -c 2000 {log}")
        text = said.stdout.decode("utf-8", "replace")
        raise HarnessError(f"OpenClaw's gateway does not listen: {text}")

    async def _start_gateway(self, log: str) -> bool:
        """Start it and wait until it listens; False when it ended before, or never did."""
        environment = self.seating.environment
        made = await environment.exec(
            f"setsid openclaw gateway run > {log} 2>&1 < /dev/null & echo $!"
        )
        pid = made.stdout.decode("ascii", "replace").strip()
        up = await environment.exec(
            ["python3", "-I", "-c", _WAIT, str(_START_S), pid], timeout_s=_START_S + _READ_S
        )
        if up.exit_code != 0:
            await environment.exec(["kill", "-KILL", f"-{pid}"])
        return up.exit_code == 0

    async def command(self, message: str, *, first: bool) -> Command:
        """The message goes by file; the same session every time."""
        if self.resident:
            await self._ensure_gateway()
        prompt = f"{self.state}/message.md"
        await self.seating.environment.put({prompt: message.encode("utf-8", "replace")})
        return Command(
            argv=[
                "openclaw",
                "agent",
                *([] if self.resident else ["--local"]),
                "--agent",
                self.agent,
                "--session-id",
                SESSION,
                "--message-file",
                prompt,
                "--timeout",
                str(_TURN_S),
                "--json",
            ],
            final={"": ("}",)},
            grace_s=15.0,
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """The answer on standard output, and new rows of the transcript."""
        said = self._write(await self._rows(), record)
        out = done.text("out")
        answer = parse_object(out[out.find("{") :]) if "{" in out else None
        result = dict_at(answer, "result") if self.resident else (answer or {})
        texts = [text_at(p, "text") for p in dicts_at(result, "payloads")]
        said = "\n\n".join(t for t in texts if t) or said
        if done.timed_out:
            return Report(said)
        meta = dict_at(result, "meta")
        failure = self._failure(answer, result, done)
        return Report("" if failure else said, failure, _usage(dict_at(meta, "agentMeta", "usage")))

    def _failure(
        self, answer: dict[str, JsonValue] | None, result: dict[str, JsonValue], done: Launched
    ) -> str | None:
        if answer is None:
            return done.tail() if done.exit_code == 0 else None
        for payload in dicts_at(result, "payloads"):
            if value_at(payload, "isError") is True:
                return text_at(payload, "text") or "the turn failed"
        error = dict_at(result, "meta", "error")
        if error or text_at(answer, "status") not in {"", "ok"}:
            return text_at(error, "message") or text_at(answer, "summary") or "the turn failed"
        return None

    async def _rows(self) -> list[dict[str, JsonValue]]:
        """Rows that are new since the last reading, of all agents."""
        read = await self.seating.environment.exec(
            ["node", "--no-warnings", "-e", _READER, json.dumps(self._seen)],
            timeout_s=_READ_S,
            max_bytes=_MAX_BYTES,
        )
        found = dicts_at(parse_object(read.stdout.decode("utf-8", "replace")), "rows")
        for row in found:
            key = f"{text_at(row, 'agent')}/{text_at(row, 'session')}"
            self._seen[key] = max(self._seen.get(key, -1), int_at(row, "seq"))
        return found

    def _write(self, rows: list[dict[str, JsonValue]], record: Recorder) -> str:
        """Write messages as events; the last thing our agent said in our session."""
        said, speaker, began = "", "", 0
        for row in rows:
            message = dict_at(row, "event", "message")
            began = began or int_at(row, "created")
            record.at(max(0, int_at(row, "created") - began) / 1000)
            agent = f"{text_at(row, 'agent')}/{text_at(row, 'session')}"
            own = agent == f"{self.agent}/{SESSION}"
            if message and agent != speaker:
                if not own or speaker:
                    record.note(f"agent {agent}")
                speaker = agent
            text = _message(message, record, foreign=not own)
            said = text if own and text else said
        return said


class OpenClawOnce(OpenClaw):
    """One process a turn, without a resident gateway."""

    resident: ClassVar[bool] = False


def _message(message: dict[str, JsonValue], record: Recorder, *, foreign: bool) -> str:
    """Write one message; its text when the assistant spoke."""
    role, said = text_at(message, "role"), ""
    if role == "toolResult":
        code = code_at(message, "details", "exitCode")
        if code is None and value_at(message, "isError") is True:
            code = 1
        call_id, tool = text_at(message, "toolCallId"), text_at(message, "toolName")
        content = value_at(message, "content")
        text = content_text(content)
        record.result(call_id, text, tool=tool or None, exit_code=code, content=content)
    elif role == "assistant":
        for block in dicts_at(message, "content"):
            kind = text_at(block, "type")
            if kind == "text":
                said = text_at(block, "text")
                record.assistant(said)
            elif kind == "thinking":
                record.reasoning(text_at(block, "thinking"))
            elif kind == "toolCall":
                name, call_id = text_at(block, "name"), text_at(block, "id")
                record.call(name, call_id, value_at(block, "arguments"))
    elif role == "user" and foreign:
        text = content_text(value_at(message, "content"))
        if _INTERNAL not in text:
            record.note(f"told to it: {text}")
    return said


def _usage(usage: dict[str, JsonValue]) -> Usage | None:
    if not usage:
        return None
    return Usage(
        input=int_at(usage, "input"),
        cache_read=int_at(usage, "cacheRead"),
        cache_write=int_at(usage, "cacheWrite"),
        output=int_at(usage, "output"),
    )
