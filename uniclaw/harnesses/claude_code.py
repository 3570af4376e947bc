"""Claude Code: `claude -p` with streamed JSON, the prompt on standard input, one session.

It speaks Anthropic messages. Token counts come from its last record: those of single messages
are the counts of their first chunk, and its costs are invented for models it does not know.
"""

import re
import uuid

from pydantic import JsonValue

from uniclaw.harnesses.cli import BasicProgram, Report
from uniclaw.harnesses.fields import dict_at, dicts_at, int_at, text_at, value_at
from uniclaw.harnesses.launcher import Command, Launched
from uniclaw.harnesses.recorder import Recorder, content_text
from uniclaw.records import Usage

SESSION = str(uuid.uuid5(uuid.NAMESPACE_URL, "uniclaw:claude-code"))
"""One session an environment; a fork of it finds the session under the same id."""
_EXIT = re.compile(r"Exit code (\d+)")


class ClaudeCode(BasicProgram):
    """See `cli.Program`."""

    async def command(self, message: str, *, first: bool) -> Command:
        """The first turn names the session, later ones resume it."""
        model = self.door.model
        return Command(
            argv=[
                "claude",
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--dangerously-skip-permissions",
                "--session-id" if first else "--resume",
                SESSION,
            ],
            stdin=message,
            env={
                "ANTHROPIC_BASE_URL": self.door.url,
                "ANTHROPIC_API_KEY": self.door.token,
                "ANTHROPIC_MODEL": model,
                "ANTHROPIC_SMALL_FAST_MODEL": model,
                "ANTHROPIC_DEFAULT_HAIKU_MODEL": model,
                "ANTHROPIC_DEFAULT_SONNET_MODEL": model,
                "ANTHROPIC_DEFAULT_OPUS_MODEL": model,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
                # As root it refuses to skip permissions unless it is told that it is contained.
                "IS_SANDBOX": "1",
            },
            final={"type": ("result",)},
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Events of standard output."""
        said, failure, usage, ended = "", None, None, False
        for at_s, event in done.records():
            record.at(at_s)
            kind = text_at(event, "type")
            if kind == "assistant":
                said = self._blocks(event, record) or said
            elif kind == "user":
                _results(event, record)
            elif kind == "result":
                ended = True
                said = text_at(event, "result") or said
                usage = _usage(dict_at(event, "usage"))
                if value_at(event, "is_error") is True:
                    failure = said or text_at(event, "subtype") or "the turn failed"
        if not ended and not done.timed_out and done.exit_code == 0:
            failure = "it ended without a result"
        return Report(said, failure, usage)

    def _blocks(self, event: dict[str, JsonValue], record: Recorder) -> str:
        said = ""
        for block in dicts_at(event, "message", "content"):
            kind = text_at(block, "type")
            if kind == "text":
                said = text_at(block, "text")
                record.assistant(said)
            elif kind == "thinking":
                record.reasoning(text_at(block, "thinking"))
            elif kind == "tool_use":
                name, call_id = text_at(block, "name"), text_at(block, "id")
                record.call(name, call_id, value_at(block, "input"))
        return said


def _results(event: dict[str, JsonValue], record: Recorder) -> None:
    for block in dicts_at(event, "message", "content"):
        if text_at(block, "type") != "tool_result":
            continue
        content = value_at(block, "content")
        text = content_text(content)
        code = 0
        if value_at(block, "is_error") is True:
            told = _EXIT.match(text)
            code = int(told[1]) if told else 1
        record.result(text_at(block, "tool_use_id"), text, exit_code=code, content=content)


def _usage(usage: dict[str, JsonValue]) -> Usage:
    thought = int_at(usage, "output_tokens_details", "thinking_tokens")
    return Usage(
        input=int_at(usage, "input_tokens"),
        cache_read=int_at(usage, "cache_read_input_tokens"),
        cache_write=int_at(usage, "cache_creation_input_tokens"),
        output=max(0, int_at(usage, "output_tokens") - thought),
        reasoning=thought,
    )
