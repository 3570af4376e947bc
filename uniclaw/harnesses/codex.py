"""Codex CLI: `codex exec --json`, the prompt on standard input, the thread resumed every round.

It speaks OpenAI responses only. Its own token counts run over the whole thread.
"""

import json
from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import (
    code_at,
    dict_at,
    dicts_at,
    int_at,
    minus,
    text_at,
    value_at,
)
from uniclaw.harnesses.launcher import Command, Launched
from uniclaw.harnesses.recorder import Recorder, content_text
from uniclaw.records import Usage

_TOKEN = "UNICLAW_TOKEN"
_SAYS = frozenset({"agent_message", "reasoning", "error", "todo_list"})
"""Kinds of item that are no tool call."""


class Codex(BasicProgram):
    """See `cli.Program`."""

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._counted = Usage()
        self._thread = ""

    def files(self) -> Mapping[str, bytes]:
        """`config.toml`: our provider, no sandbox of its own, nothing sent home."""
        quoted = json.dumps
        lines = (
            f"model = {quoted(self.door.model)}",
            *self._effort(),
            'model_provider = "uniclaw"',
            'approval_policy = "never"',
            'sandbox_mode = "danger-full-access"',
            "check_for_update_on_startup = false",
            f"model_context_window = {self.door.context_tokens}",
            "[model_providers.uniclaw]",
            'name = "uniclaw"',
            f"base_url = {quoted(self.door.url + '/v1')}",
            f"env_key = {quoted(_TOKEN)}",
            'wire_api = "responses"',
            "[analytics]",
            "enabled = false",
            "[feedback]",
            "enabled = false",
            f"[projects.{quoted(self.seating.workspace)}]",
            'trust_level = "trusted"',
        )
        text = "".join(f"{line}\n" for line in lines)
        return {f"{self.seating.home}/.codex/config.toml": text.encode()}

    def _effort(self) -> tuple[str, ...]:
        effort = self.door.effort
        return () if effort is None else (f"model_reasoning_effort = {json.dumps(effort)}",)

    async def command(self, message: str, *, first: bool) -> Command:
        """The first turn starts a thread, later ones resume it."""
        options = ["--json", "--skip-git-repo-check", "--disable", "plugins"]
        resume = [] if first else ["resume", self._thread or "--last"]
        return Command(
            argv=["codex", "exec", *options, *resume, "-"],
            stdin=message,
            env={_TOKEN: self.door.token},
            final={"type": ("turn.completed", "turn.failed")},
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Events of standard output."""
        said, failure, usage = "", None, None
        seen: set[str] = set()
        for at_s, event in done.records():
            record.at(at_s)
            kind = text_at(event, "type")
            if kind == "thread.started":
                self._thread = text_at(event, "thread_id")
            elif kind.startswith("item."):
                said = self._item(kind, dict_at(event, "item"), record, seen) or said
            elif kind == "turn.failed":
                failure = text_at(event, "error", "message") or "the turn failed"
            elif kind == "turn.completed":
                total = _usage(dict_at(event, "usage"))
                usage, self._counted = minus(total, self._counted), total
        return Report(said, failure, usage)

    def _item(self, kind: str, item: dict[str, JsonValue], record: Recorder, seen: set[str]) -> str:
        """Write an item; its text when it is something said."""
        sort, item_id = text_at(item, "type"), text_at(item, "id")
        over = kind == "item.completed"
        if sort in _SAYS:
            text = text_at(item, "text") or text_at(item, "message")
            if over and sort == "agent_message":
                record.assistant(text)
                return text
            if over and sort == "reasoning":
                record.reasoning(text)
            elif over and sort == "error":
                record.note(f"codex: {text}")
            return ""
        if item_id not in seen:
            seen.add(item_id)
            tool, arguments = _call(sort, item)
            record.call(tool, item_id, arguments)
        if over:
            code, given = code_at(item, "exit_code"), value_at(item, "result")
            record.result(item_id, _output(item), exit_code=code, content=given)
        return ""


def _call(sort: str, item: dict[str, JsonValue]) -> tuple[str, JsonValue]:
    if sort == "command_execution":
        return "exec_command", {"command": text_at(item, "command")}
    if sort == "file_change":
        changes: list[JsonValue] = list(dicts_at(item, "changes"))
        return "apply_patch", {"changes": changes}
    if sort == "mcp_tool_call":
        return text_at(item, "tool") or sort, value_at(item, "arguments")
    left_out = {"id", "type", "status", "result", "aggregated_output"}
    return sort, {key: value for key, value in item.items() if key not in left_out}


def _output(item: dict[str, JsonValue]) -> str:
    for key in ("aggregated_output", "result", "error"):
        text = content_text(dict_at(item, key).get("content") or value_at(item, key))
        if text:
            return text
    return text_at(item, "status")


def _usage(usage: dict[str, JsonValue]) -> Usage:
    cached, written = (
        int_at(usage, "cached_input_tokens"),
        int_at(usage, "cache_write_input_tokens"),
    )
    thought = int_at(usage, "reasoning_output_tokens")
    return Usage(
        input=max(0, int_at(usage, "input_tokens") - cached - written),
        cache_read=cached,
        cache_write=written,
        output=max(0, int_at(usage, "output_tokens") - thought),
        reasoning=thought,
    )
