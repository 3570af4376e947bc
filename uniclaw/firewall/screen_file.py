"""Screen anyone's messages: JSON lines in, one decision per line out."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import cast

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from uniclaw.errors import UserError
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import Policy
from uniclaw.firewall.public import public_texts
from uniclaw.firewall.screening import Screen
from uniclaw.records import Progress, Record
from uniclaw.suites.bundle import Suite, TaskBundle


class ScreenLine(BaseModel):
    """One message to be screened; further keys are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str | int
    task_id: str
    message: str
    visible: str | tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    progress: Progress = Progress()


class LineDecision(Record):
    """What is printed for one line."""

    id: str | int
    decision: str
    kind: str | None
    matched: str | None
    tier: str | None


def screen_of(bundle: TaskBundle, policy: Policy, *, whole_work: bool = True) -> Screen:
    """The screen of a task under a policy.

    Args:
        bundle: the task.
        policy: in force.
        whole_work: see `Screen`.

    Raises:
        UserError: the task's hidden side cannot be read.
    """
    material = HiddenMaterial.of(bundle.load_rubric(), policy)
    return Screen(
        material,
        public=public_texts(bundle),
        brief=bundle.brief,
        policy=policy,
        whole_work=whole_work,
    )


def screens_of(suite: Suite, policy: Policy, *, whole_work: bool = True) -> Callable[[str], Screen]:
    """Screens by task id, each built once, when it is first asked for."""
    bundles: Mapping[str, TaskBundle] = {str(b.task_id): b for b in suite.tasks}

    @cache
    def screen(task_id: str) -> Screen:
        if task_id not in bundles:
            raise UserError(f"no such task in {suite.uri}", field="task_id", value=task_id)
        return screen_of(bundles[task_id], policy, whole_work=whole_work)

    return screen


def parse_line(text: str, *, where: str) -> ScreenLine:
    """One line of the file.

    Raises:
        UserError: not JSON, or a key missing or of the wrong type.
    """
    try:
        data = cast("JsonValue", json.loads(text))
        return ScreenLine.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or None
        raise UserError(first["msg"], file=where, field=field) from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"not JSON: {error}", file=where) from error


def screen_lines(
    lines: Iterable[str], screen: Callable[[str], Screen], *, file: str
) -> Iterator[LineDecision]:
    """Decide line by line; empty lines are skipped.

    Args:
        lines: of the file.
        screen: gives the screen of a task.
        file: for messages.
    """
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        line = parse_line(text, where=f"{file}:{number}")
        visible = (line.visible,) if isinstance(line.visible, str) else line.visible
        decision = screen(line.task_id).check(
            line.message, visible=visible, progress=line.progress, history=line.history
        )
        hit = decision.hits[0] if decision.hits else None
        yield LineDecision(
            id=line.id,
            decision=decision.decision,
            kind=hit.kind if hit else None,
            matched=hit.matched if hit else None,
            tier=hit.tier if hit else None,
        )
