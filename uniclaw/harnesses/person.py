"""A person at a terminal as the executor: every line is a shell command in the environment.

For authors who want to feel a task, and to see what the loop answers. Lines that begin with a
colon are for the harness: `:done TEXT` ends the turn with TEXT as the answer, `:help` explains.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable

from uniclaw.assets import Assets
from uniclaw.errors import HarnessError
from uniclaw.harnesses.events import EventLog, ends_in_question
from uniclaw.ports import ExecResult, HarnessContext, TurnLimits
from uniclaw.records import StopReason, Turn

HELP = (
    "Each line is a shell command in the environment; `cd` lasts.\n"
    "  :done TEXT   end the turn; TEXT is what you tell the user (several lines: end with \\)\n"
    "  :help        this\n"
)
COMMAND_S = 600.0
_MAX_BYTES = 200_000
_END = "\x1euniclaw-cwd "
"""Stands before the directory that a command ended in."""

_KEEP = ("kept=$?", "printf '\\036uniclaw-cwd %s' \"$PWD\"", "exit $kept")

Ask = Callable[[str], Awaitable[str | None]]
"""Shows a prompt and returns a line without its end; None at the end of input."""


async def _ask_terminal(prompt: str) -> str | None:
    sys.stderr.write(prompt)
    sys.stderr.flush()
    line = await asyncio.to_thread(sys.stdin.readline)
    return line.rstrip("\n") if line else None


def _show_terminal(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


class PersonHarness:
    """Carries out what a person types; each command is one `shell` tool call."""

    name = "person"

    def __init__(
        self,
        context: HarnessContext,
        assets: Assets,
        *,
        ask: Ask = _ask_terminal,
        show: Callable[[str], None] = _show_terminal,
    ) -> None:
        self._environment = context.environment
        self._workspace = context.task.workspace
        self._cwd = "."
        self._round = context.round_offset
        self._ask = ask
        self._show = show
        self._ended = False

    async def open(self) -> None:
        """Nothing to start."""

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """Show the message, and carry out commands until the person is done.

        Raises:
            HarnessError: nobody is at the terminal any more.
        """
        if self._ended:
            raise HarnessError("the input has ended; nobody is left to play")
        log = EventLog(self._round)
        self._round += 1
        log.message("user", message)
        self._show(f"\n--- round {self._round - 1}: the user says ---\n{message}\n\n{HELP}")
        calls = 0
        while True:
            line = await self._ask(f"{self._cwd} $ ")
            if line is None:
                self._ended = True
                return self._end(log, "")
            word, _, rest = line.strip().partition(" ")
            if word == ":done":
                return self._end(log, await self._whole(rest))
            if word.startswith(":"):
                self._show(HELP)
            elif line.strip():
                calls += 1
                result = await self._run(log, f"p{self._round - 1}s{calls}", line, limits)
                if result.oom_killed:
                    self._show("\n(the environment is out of memory; the turn ends)\n")
                    return self._turn(log, StopReason.RESOURCES, "", "out of memory")

    async def _whole(self, text: str) -> str:
        """An answer, with the lines that follow one that ends in a backslash."""
        lines = [text]
        while lines[-1].endswith("\\"):
            lines[-1] = lines[-1][:-1]
            lines.append(await self._ask("... ") or "")
        return "\n".join(lines).strip()

    async def _run(self, log: EventLog, call_id: str, line: str, limits: TurnLimits) -> ExecResult:
        log.call("shell", call_id, {"command": line})
        script = "\n".join(('cd -- "$0" || exit 1', line, *_KEEP))
        result = await self._environment.exec(
            ["bash", "-c", script, self._cwd],
            cwd=self._workspace,
            timeout_s=COMMAND_S if limits.seconds is None else min(COMMAND_S, limits.seconds),
            max_bytes=_MAX_BYTES,
        )
        said, found, cwd = result.stdout.decode("utf-8", "replace").rpartition(_END)
        if found:
            self._cwd = cwd
        else:
            said = cwd
        text = said + result.stderr.decode("utf-8", "replace")
        log.result(
            "shell",
            call_id,
            text,
            exit_code=result.exit_code,
            truncated=result.truncated,
            total_bytes=result.total_bytes,
        )
        self._show(text if not text or text.endswith("\n") else f"{text}\n")
        if result.timed_out:
            self._show("(stopped: it took too long)\n")
        elif result.exit_code:
            self._show(f"(exit code {result.exit_code})\n")
        return result

    def _end(self, log: EventLog, said: str) -> Turn:
        said = said or "Done."
        stop = StopReason.ASKED if ends_in_question(said) else StopReason.FINISHED
        return self._turn(log, stop, said, None)

    def _turn(self, log: EventLog, stop: StopReason, said: str, detail: str | None) -> Turn:
        if said:
            log.message("assistant", said)
        return Turn(
            stop=stop,
            events=log.events,
            final_message=said,
            executor_s=log.elapsed_s,
            detail=detail,
        )

    async def close(self) -> None:
        """Nothing to end."""
