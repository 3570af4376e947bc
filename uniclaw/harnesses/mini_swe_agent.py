"""mini-swe-agent: its own agent, model and shell, driven so that a conversation can go on.

The program has no command that continues a session, so a small driver (`driver.py` of its layer)
puts the earlier messages back before its first step.
"""

import json

from pydantic import JsonValue

from uniclaw.harnesses.chat_lines import write_chat
from uniclaw.harnesses.cli import BasicProgram, Report
from uniclaw.harnesses.fields import dict_at, int_at, text_at
from uniclaw.harnesses.launcher import Command, Launched
from uniclaw.harnesses.recorder import Recorder
from uniclaw.records import Usage

_DRIVER = "/opt/mini-swe-agent/uniclaw_driver.py"
_GOOD_ENDS = frozenset({"Submitted"})


class MiniSweAgent(BasicProgram):
    """See `cli.Program`."""

    async def command(self, message: str, *, first: bool) -> Command:
        """The driver finds the earlier messages by itself."""
        given = {
            "prompt": message,
            "model": self.door.model,
            "state": f"{self.seating.home}/.mini-swe-agent/trajectory.json",
        }
        return Command(
            argv=["/opt/mini-swe-agent/bin/python", "-I", _DRIVER],
            stdin=json.dumps(given),
            env={
                "OPENAI_API_BASE": f"{self.door.url}/v1",
                "OPENAI_API_KEY": self.door.token,
                "MSWEA_CONFIGURED": "true",
                "MSWEA_SILENT_STARTUP": "1",
                # The gateway has retried already.
                "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2",
                "MSWEA_COST_TRACKING": "ignore_errors",
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            },
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Messages as the driver printed them."""
        said, failure, usage = "", None, Usage()
        for at_s, line in done.records():
            message = dict_at(line, "message")
            record.at(at_s)
            if text_at(message, "role") == "exit":
                status = text_at(message, "extra", "exit_status")
                said = text_at(message, "content").strip() or said
                if status not in _GOOD_ENDS:
                    failure = f"{status}: {text_at(message, 'content')}"
                continue
            said = write_chat([message], record) or said
            usage += _usage(message)
        return Report("" if failure else said, failure, usage)


def _usage(message: dict[str, JsonValue]) -> Usage:
    usage = dict_at(message, "extra", "response", "usage")
    cached = int_at(usage, "prompt_tokens_details", "cached_tokens")
    thought = int_at(usage, "completion_tokens_details", "reasoning_tokens")
    return Usage(
        input=max(0, int_at(usage, "prompt_tokens") - cached),
        cache_read=cached,
        output=max(0, int_at(usage, "completion_tokens") - thought),
        reasoning=thought,
    )
