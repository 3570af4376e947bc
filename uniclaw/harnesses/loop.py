"""The small tool-calling agent: a shell, an image viewer, and any chat model.

Driven from the host; only its commands run in the environment, so no key is in reach.
"""

import asyncio
import base64
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import BudgetExceeded, HarnessError, ProviderError
from uniclaw.harnesses.events import EventLog, ends_in_question
from uniclaw.ports import (
    ChatModel,
    ChatRequest,
    Completion,
    HarnessContext,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolSpec,
    TurnLimits,
    text_message,
)
from uniclaw.prompts import render
from uniclaw.records import Record, RoleUsage, StopReason, Turn

MAX_STEPS = 100
"""Model calls in one turn before it is stopped; loops end here when no budget does."""
COMMAND_S = 120.0
_TOOL_BYTES = 30_000
_IMAGE_BYTES = 4_000_000
_Media = Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
_MEDIA: dict[str, _Media] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}

TOOLS = (
    ToolSpec(
        name="shell",
        description="Run a shell command in the workspace; returns its output and exit code.",
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout_s": {"type": "number", "description": "at most 600"},
            },
            "required": ["command"],
        },
    ),
    ToolSpec(
        name="view_image",
        description="Look at an image file (png, jpg, gif, webp).",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    ),
)


class _Stop(NamedTuple):
    reason: StopReason
    detail: str | None = None
    budget: str | None = None
    failure: str | None = None


class LoopHarness:
    """Calls the model until it answers without a tool call."""

    name = "loop"

    def __init__(self, context: HarnessContext, assets: Assets) -> None:
        if context.model is None:
            raise HarnessError("the loop needs a model")
        self._model: ChatModel = context.model
        self._environment = context.environment
        self._keep = context.keep_picture
        self._task = context.task
        self._round = context.round_offset
        self._seed = context.seed
        file = f"roles/loop/system.{context.task.language}.md"
        system = render(assets.read_text(file), file=file, task=context.task)
        self._messages: list[Message] = [text_message("system", system)]
        if context.session is not None:
            saved = _Session.model_validate(context.session)
            self._messages = list(saved.messages)

    async def open(self) -> None:
        """Nothing to start."""

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """Work until the model stops, or a limit does."""
        round_number, self._round = self._round, self._round + 1
        log = EventLog(round_number)
        log.message("user", message)
        self._messages.append(text_message("user", message))
        spent = _Spending()
        try:
            async with asyncio.timeout(limits.seconds):
                stop, said = await self._work(log, spent)
        except TimeoutError:
            await self._environment.kill_all()
            stop, said = _Stop(StopReason.TIMEOUT, "turn seconds used up"), ""
        except BudgetExceeded as error:
            stop, said = _Stop(StopReason.BUDGET, str(error), budget=error.kind), ""
        except ProviderError as error:
            detail = f"{type(error).__name__}: {error}"
            stop, said = _Stop(StopReason.MODEL_ERROR, detail, failure=error.outcome), ""
        if stop.detail:
            log.note(stop.detail)
        self._close_open_calls()
        return Turn(
            stop=stop.reason,
            events=log.events,
            final_message=said,
            executor_s=max(0.0, log.elapsed_s - spent.waited_s),
            waited_s=spent.waited_s,
            spent=spent.total(),
            budget=stop.budget,
            detail=stop.detail,
            failure=stop.failure,
        )

    async def _work(self, log: EventLog, spent: "_Spending") -> tuple[_Stop, str]:
        for _ in range(MAX_STEPS):
            answer = await self._model.complete(
                ChatRequest(messages=tuple(self._messages), tools=TOOLS, seed=self._seed)
            )
            spent.add(answer)
            self._messages.append(_assistant(answer))
            if answer.text:
                log.message("assistant", answer.text)
            if not answer.tool_calls:
                asked = ends_in_question(answer.text)
                return _Stop(StopReason.ASKED if asked else StopReason.FINISHED), answer.text
            for call in answer.tool_calls:
                self._messages.append(await self._carry_out(log, call))
        return _Stop(StopReason.BUDGET, f"{MAX_STEPS} model calls in one turn", "turn_calls"), ""

    async def _carry_out(self, log: EventLog, call: ToolCall) -> Message:
        log.call(call.name, call.id, call.arguments)
        if call.invalid is not None:
            return self._refuse(log, call, "arguments are not a JSON object")
        if call.name == "shell":
            return await self._shell(log, call)
        if call.name == "view_image":
            return await self._view(log, call)
        return self._refuse(log, call, "no such tool; offered are shell and view_image")

    def _refuse(self, log: EventLog, call: ToolCall, why: str) -> Message:
        log.result(call.name, call.id, f"error: {why}", exit_code=1)
        return _tool_message(call, f"error: {why}")

    async def _shell(self, log: EventLog, call: ToolCall) -> Message:
        command = call.arguments.get("command")
        if not isinstance(command, str):
            return self._refuse(log, call, "`command` must be a string")
        result = await self._environment.exec(
            ["bash", "-s"],
            stdin=command.encode("utf-8", "replace"),
            cwd=self._task.workspace,
            timeout_s=_seconds(call.arguments.get("timeout_s")),
            max_bytes=_TOOL_BYTES,
        )
        text = (result.stdout + result.stderr).decode("utf-8", "replace")
        log.result(
            "shell",
            call.id,
            text,
            exit_code=result.exit_code,
            truncated=result.truncated,
            total_bytes=result.total_bytes,
        )
        notes = [f"exit code: {result.exit_code}"]
        if result.truncated:
            notes.append(f"output cut: {result.total_bytes} bytes in all")
        if result.timed_out:
            notes.append("stopped at its time limit")
        if result.oom_killed:
            notes.append("something was killed for memory")
        return _tool_message(call, f"{text}\n[{'; '.join(notes)}]")

    async def _view(self, log: EventLog, call: ToolCall) -> Message:
        path = call.arguments.get("path")
        media = _MEDIA.get(PurePosixPath(path).suffix.lower()) if isinstance(path, str) else None
        if media is None or not isinstance(path, str):
            return self._refuse(log, call, "`path` must name a png, jpg, gif or webp file")
        inside = str(PurePosixPath(self._task.workspace) / path)
        try:
            data = await self._environment.get(inside, max_bytes=_IMAGE_BYTES)
        except (FileNotFoundError, ValueError) as error:
            return self._refuse(log, call, str(error))
        kept = self._keep(data) if self._keep is not None else None
        told = f"[image {path}, {len(data)} bytes]"
        log.result(call.name, call.id, told, exit_code=0, images=(kept,) if kept else ())
        image = ImagePart(media_type=media, data_base64=base64.b64encode(data).decode())
        return Message(
            role="tool", tool_call_id=call.id, parts=(TextPart(text=f"image {path}"), image)
        )

    def _close_open_calls(self) -> None:
        """A turn that was stopped between call and result must not break the next request."""
        answered = {m.tool_call_id for m in self._messages if m.role == "tool"}
        for message in list(self._messages):
            for call in message.tool_calls:
                if call.id not in answered:
                    self._messages.append(_tool_message(call, "error: the turn was stopped"))
                    answered.add(call.id)

    def session(self) -> Mapping[str, JsonValue]:
        """The whole conversation; see `episode.boundary.Resumable`."""
        return _Session(messages=tuple(self._messages)).model_dump(mode="json")

    async def close(self) -> None:
        """Nothing to end; the model belongs to the episode."""


class _Session(Record):
    messages: tuple[Message, ...]


class _Spending:
    def __init__(self) -> None:
        self._sum = RoleUsage()
        self.waited_s = 0.0

    def add(self, answer: Completion) -> None:
        self._sum = RoleUsage(
            calls=self._sum.calls + 1, usage=self._sum.usage + answer.usage, cost_usd=None
        )
        self.waited_s += answer.waited_s

    def total(self) -> RoleUsage:
        return self._sum


def _assistant(answer: Completion) -> Message:
    parts = (TextPart(text=answer.text),) if answer.text else ()
    return Message(role="assistant", parts=parts, tool_calls=answer.tool_calls)


def _tool_message(call: ToolCall, text: str) -> Message:
    return Message(role="tool", tool_call_id=call.id, parts=(TextPart(text=text),))


def _seconds(value: JsonValue) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 600:
        return float(value)
    return COMMAND_S
