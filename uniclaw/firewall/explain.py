"""What can reach whom under a policy, computed from the record types and the policy.

A view type that could hold a hidden record, or a field whose source is not known here, is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, ForwardRef, get_args

from pydantic import BaseModel

from uniclaw.errors import UserError
from uniclaw.firewall.policy import Policy, ScoreRelease
from uniclaw.records import Feedback, Progress, Record, Task, UserView

HIDDEN_PACKAGE: Final = "uniclaw.hidden"

_OPEN_TYPES: Final[tuple[object, ...]] = (object, Any, BaseModel, Record)
_PROGRESS: Final[Mapping[str, tuple[str, str]]] = {
    "decision": ("Verdict.decision", "decision"),
    "attempt_state": ("Verdict.attempt_state", "attempt_state"),
    "recoverable": ("Verdict.recoverable", "recoverable"),
    "score_band": ("Verdict.score", "score"),
    "score": ("Verdict.score", "score"),
    "guidance_tags": ("Verdict.guidance_tags", "guidance_tags"),
    "missing_artifacts": ("Verdict.missing_artifacts", "missing_artifacts"),
    "rationale": ("Verdict.rationale", "rationale"),
    "lines": ("Verdict.lines", "lines"),
}
_VIEW: Final[Mapping[str, tuple[str, str]]] = {
    "task_id": ("neutral id", "carries no meaning"),
    "episode_id": ("neutral id", "carries no meaning"),
    "instruction": ("Task.instruction", "whole"),
    "language": ("Task.language", "whole"),
    "persona": ("roles/personas", "whole"),
    "brief": ("Brief", "whole"),
    "rounds": ("Turn, frozen artifacts", ""),
    "progress": ("Verdict", "by the policy, see progress.*"),
    "asked": ("Turn.stop", "yes or no"),
    "feedback_rounds_left": ("Budget", "count"),
    "reminder": ("a blocked draft", "yes or no; nothing of the match"),
}
_VISIBLE: Final[Mapping[str, str]] = {
    "messages": "messages only",
    "files": "messages and result files",
    "trajectory": "messages, result files and steps",
}


class FlowRow(Record):
    """One field that reaches a role."""

    field: str
    source: str
    resolution: str
    """`not released` where the policy keeps it back."""
    recipient: str


def record_types(root: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """All record types that a record can hold, itself first."""
    seen: set[type[BaseModel]] = set()
    stack: list[object] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, type) and issubclass(item, BaseModel):
            if item in seen:
                continue
            seen.add(item)
            item.model_rebuild()
            yield item
            stack.extend(field.annotation for field in item.model_fields.values())
        else:
            stack.extend(get_args(item))


def refuse_hidden(view: type[BaseModel] = UserView) -> None:
    """Refuse a view type that could hold anything of the hidden side, or is open.

    Raises:
        UserError: names the type or field.
    """
    for kind in record_types(view):
        if kind.__module__.startswith(HIDDEN_PACKAGE) or any(
            base.__module__.startswith(HIDDEN_PACKAGE) for base in kind.__mro__
        ):
            raise UserError("a view must not hold a hidden record", field=kind.__name__)
        if kind.model_config.get("extra") != "forbid":
            raise UserError("a view must not take unknown fields", field=kind.__name__)
        for name, field in kind.model_fields.items():
            if _open(field.annotation):
                raise UserError("a view's field must not be open", field=f"{kind.__name__}.{name}")


def _open(annotation: object) -> bool:
    """Whether an annotation lets any value through, or cannot be read."""
    if isinstance(annotation, ForwardRef) or any(annotation is kind for kind in _OPEN_TYPES):
        return True
    return any(_open(part) for part in get_args(annotation))


def explain(policy: Policy, view: type[BaseModel] = UserView) -> tuple[FlowRow, ...]:
    """The table of what can reach the user simulator and the executor.

    Raises:
        UserError: the view or `Progress` has a field whose source and release are not known.
    """
    refuse_hidden(view)
    rows = [*_view_rows(policy, view), *_progress_rows(policy), *_executor_rows(policy)]
    return tuple(rows)


def _view_rows(policy: Policy, view: type[BaseModel]) -> Iterator[FlowRow]:
    for name in view.model_fields:
        if name not in _VIEW:
            raise UserError("no source is known for this field of the view", field=name)
        source, resolution = _VIEW[name]
        shown = _VISIBLE[policy.visible] if name == "rounds" else resolution
        yield FlowRow(field=name, source=source, resolution=shown, recipient="user simulator")


def _progress_rows(policy: Policy) -> Iterator[FlowRow]:
    for name in Progress.model_fields:
        if name not in _PROGRESS:
            raise UserError("no release is known for this field of Progress", field=name)
        source, flag = _PROGRESS[name]
        released = _resolution(name, getattr(policy.release, flag))
        yield FlowRow(
            field=f"progress.{name}", source=source, resolution=released, recipient="user simulator"
        )


def _resolution(name: str, setting: object) -> str:
    if isinstance(setting, ScoreRelease):
        wanted = {"score_band": ScoreRelease.BAND, "score": ScoreRelease.EXACT}[name]
        words = {"score_band": "three bands", "score": "exact"}
        return words[name] if setting is wanted else "not released"
    return "whole" if setting else "not released"


def _executor_rows(policy: Policy) -> Iterator[FlowRow]:
    for name in Task.model_fields:
        if name in ("task_id", "family"):
            yield FlowRow(
                field=name, source="neutral id", resolution="carries no meaning",
                recipient="executor",
            )  # fmt: skip
        elif name in ("instruction", "sources", "skills"):
            yield FlowRow(
                field=name, source=f"Task.{name}", resolution="whole", recipient="executor"
            )
    for name in Feedback.model_fields:
        if name == "text":
            screened = (
                "screened; a leak is redrawn or replaced"
                if policy.screen == "enforce"
                else "screened; a leak is recorded and delivered"
            )
            yield FlowRow(
                field="feedback.text", source="user simulator", resolution=screened,
                recipient="executor",
            )  # fmt: skip
