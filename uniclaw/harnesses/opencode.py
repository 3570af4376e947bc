"""OpenCode: `opencode run --format json`, the prompt on standard input, one session.

Its configuration comes by variable: a configuration directory makes it look for a registry.
"""

import json

from pydantic import JsonValue

from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import code_at, dict_at, int_at, text_at, value_at
from uniclaw.harnesses.launcher import Command, Launched
from uniclaw.harnesses.recorder import Recorder
from uniclaw.records import Usage

_OUTPUT_TOKENS = 32_000


class OpenCode(BasicProgram):
    """See `cli.Program`."""

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._session = ""

    def _config(self) -> str:
        model = self.door.model
        limit: dict[str, JsonValue] = {
            "context": self.door.context_tokens,
            "output": _OUTPUT_TOKENS,
        }
        options: dict[str, JsonValue] = {
            "baseURL": f"{self.door.url}/v1",
            "apiKey": self.door.token,
        }
        provider: dict[str, JsonValue] = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "uniclaw",
            "options": options,
            "models": {model: {"name": model, "limit": limit}},
        }
        config: dict[str, JsonValue] = {
            "provider": {"uniclaw": provider},
            "model": f"uniclaw/{model}",
            "small_model": f"uniclaw/{model}",
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow"},
        }
        return json.dumps(config)

    async def command(self, message: str, *, first: bool) -> Command:
        """Later turns name the session, or continue the last one."""
        resume = ["--session", self._session] if self._session else ["--continue"]
        return Command(
            argv=["opencode", "run", "--format", "json", *([] if first else resume)],
            stdin=message,
            env={
                "OPENCODE_CONFIG_CONTENT": self._config(),
                "OPENCODE_DISABLE_AUTOUPDATE": "1",
                "OPENCODE_DISABLE_MODELS_FETCH": "1",
                "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            },
            final={"type": ("step_finish",), "part.reason": ("stop",)},
            grace_s=20.0,
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Events of standard output."""
        said, failure, usage = "", None, Usage()
        for at_s, event in done.records():
            record.at(at_s)
            kind, part = text_at(event, "type"), dict_at(event, "part")
            self._session = text_at(event, "sessionID") or self._session
            if kind == "text":
                said = text_at(part, "text")
                record.assistant(said)
            elif kind == "reasoning":
                record.reasoning(text_at(part, "text"))
            elif kind == "tool_use":
                _tool(part, record)
            elif kind == "step_finish":
                usage += _usage(dict_at(part, "tokens"))
            elif kind == "error":
                failure = _error(event)
        return Report(said, failure, usage)


def _tool(part: dict[str, JsonValue], record: Recorder) -> None:
    call_id, state = text_at(part, "callID"), dict_at(part, "state")
    record.call(text_at(part, "tool"), call_id, value_at(state, "input"))
    text = text_at(state, "output") or text_at(state, "error")
    code = code_at(state, "metadata", "exit")
    if code is None and text_at(state, "status") == "error":
        code = 1
    record.result(call_id, text, exit_code=code)


def _error(event: dict[str, JsonValue]) -> str:
    error = dict_at(event, "error")
    return text_at(error, "data", "message") or text_at(error, "name") or "the turn failed"


def _usage(tokens: dict[str, JsonValue]) -> Usage:
    return Usage(
        input=int_at(tokens, "input"),
        cache_read=int_at(tokens, "cache", "read"),
        cache_write=int_at(tokens, "cache", "write"),
        output=int_at(tokens, "output"),
        reasoning=int_at(tokens, "reasoning"),
    )
