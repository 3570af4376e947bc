"""The oracle: plays a task's staged reference solution, one script per round.

It shows the loop without a model and proves that a task can be solved. The solution is on
the host; only the commands of its steps enter the environment, one at a time.
"""

from collections.abc import Mapping

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import HarnessError
from uniclaw.harnesses.events import EventLog, ends_in_question
from uniclaw.harnesses.solution import read_solution
from uniclaw.ports import ExecResult, HarnessContext, TurnLimits
from uniclaw.records import StopReason, Turn

DEFAULT_STEP_S = 600.0
_MAX_BYTES = 200_000


class OracleHarness:
    """Runs `round-N.sh` step by step; each step is one `shell` tool call."""

    name = "oracle"

    def __init__(self, context: HarnessContext, assets: Assets) -> None:
        if context.solution is None:
            raise HarnessError("the oracle needs a solution directory")
        self._environment = context.environment
        self._workspace = context.task.workspace
        self._solution = context.solution
        self._round = context.round_offset

    async def open(self) -> None:
        """Nothing to start."""

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """Play this round's script; without one, say so and do nothing."""
        round_number, self._round = self._round, self._round + 1
        log = EventLog(round_number)
        log.message("user", message)
        solution = read_solution(self._solution, round_number)
        if solution is None:
            return self._end(log, StopReason.FINISHED, "I have nothing further to add.")
        for index, step in enumerate(solution.steps):
            left = None if limits.seconds is None else limits.seconds - log.elapsed_s
            if left is not None and left <= 0:
                return self._end(log, StopReason.TIMEOUT, "", "turn seconds used up")
            result = await self._step(log, f"r{round_number}s{index}", step, left)
            if result.timed_out:
                return self._end(log, StopReason.TIMEOUT, "", "a step was stopped at its limit")
            if result.oom_killed:
                return self._end(log, StopReason.RESOURCES, "", "out of memory")
        stop = StopReason.ASKED if ends_in_question(solution.message) else StopReason.FINISHED
        return self._end(log, stop, solution.message or "Done.")

    async def _step(
        self, log: EventLog, call_id: str, step: str, left_s: float | None
    ) -> ExecResult:
        log.call("shell", call_id, {"command": step})
        result = await self._environment.exec(
            ["bash", "-s"],
            stdin=step.encode(),
            cwd=self._workspace,
            timeout_s=DEFAULT_STEP_S if left_s is None else left_s,
            max_bytes=_MAX_BYTES,
        )
        text = (result.stdout + result.stderr).decode("utf-8", "replace")
        log.result(
            "shell",
            call_id,
            text,
            exit_code=result.exit_code,
            truncated=result.truncated,
            total_bytes=result.total_bytes,
        )
        return result

    def _end(self, log: EventLog, stop: StopReason, said: str, detail: str | None = None) -> Turn:
        if said:
            log.message("assistant", said)
        if detail:
            log.note(detail)
        return Turn(
            stop=stop,
            events=log.events,
            final_message=said,
            executor_s=log.elapsed_s,
            detail=detail,
        )

    def session(self) -> Mapping[str, JsonValue]:
        """Nothing: its round is all it knows; see `episode.boundary.Resumable`."""
        return {}

    async def close(self) -> None:
        """Nothing to end."""
