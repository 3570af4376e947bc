"""The lines of a rubric, the checks under them, and what is asked of the judge.

Nested checks have ids under their line's: `line/0`, `line/1` ... for the parts of `all` and
`any`, `line/0` for the part of `not`, `line/then` for the second phase of `command`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    Check,
    CommandCheck,
    GraderCheck,
    JudgeCheck,
    NotCheck,
    Rubric,
)
from uniclaw.hidden.verdict import CheckResult
from uniclaw.trajectory import Evidence


class JudgeLine(NamedTuple):
    """One criterion for the judge model."""

    id: str
    """Line id, or `line/0` where the judge check is part of another."""
    criterion: str
    files: tuple[str, ...]
    """Globs of artifacts that the judge should see first."""


class JudgeFunction(Protocol):
    """Answers all judge lines of a round at once."""

    async def __call__(
        self, evidence: Evidence, lines: Sequence[JudgeLine]
    ) -> Mapping[str, CheckResult]:
        """Give every line exactly one result.

        Raises:
            JudgeError: there is no usable answer after retries.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class Line:
    """A checkpoint, cap or prose requirement in one form."""

    id: str
    kind: Literal["checkpoint", "cap", "requirement"]
    description: str
    check: Check
    weight: float = 0.0
    cap: float | None = None
    tag: str | None = None
    artifact: str | None = None


class Part(NamedTuple):
    """A check at its place in a line."""

    id: str
    check: Check
    positive: bool
    """Whether a higher value of this check is better for the attempt."""
    in_command: str | None
    """Id of the command check whose output it looks at."""


def requirement_id(index: int) -> str:
    """Id of the prose requirement at a position, counted from 0."""
    return f"requires-{index + 1}"


def rubric_lines(rubric: Rubric) -> tuple[Line, ...]:
    """Checkpoints, caps and prose requirements, in the rubric's order."""
    checkpoints = (
        Line(
            id=c.id,
            kind="checkpoint",
            description=c.description,
            check=c.check,
            weight=c.weight,
            tag=c.tag,
            artifact=c.artifact,
        )
        for c in rubric.checkpoints
    )
    caps = (
        Line(id=c.id, kind="cap", description=c.description, check=c.when, cap=c.max)
        for c in rubric.caps
    )
    requirements = (
        Line(
            id=requirement_id(i),
            kind="requirement",
            description=text,
            check=JudgeCheck(criterion=text),
        )
        for i, text in enumerate(rubric.pass_requires.judge)
    )
    return (*checkpoints, *caps, *requirements)


def parts(line: Line) -> Iterator[Part]:
    """Every check of a line, outer ones first."""
    yield from _parts(Part(line.id, line.check, line.kind != "cap", None))


def children(part: Part) -> tuple[Part, ...]:
    """The checks directly under one."""
    check = part.check
    if isinstance(check, AllCheck | AnyCheck):
        return tuple(
            part._replace(id=f"{part.id}/{i}", check=inner) for i, inner in enumerate(check.of)
        )
    if isinstance(check, NotCheck):
        return (part._replace(id=f"{part.id}/0", check=check.check, positive=not part.positive),)
    if isinstance(check, CommandCheck) and check.then is not None:
        return (part._replace(id=f"{part.id}/then", check=check.then, in_command=part.id),)
    return ()


def _parts(part: Part) -> Iterator[Part]:
    yield part
    for child in children(part):
        yield from _parts(child)


def judge_lines(lines: Sequence[Line]) -> tuple[JudgeLine, ...]:
    """What the judge is asked, in the rubric's order."""
    return tuple(
        JudgeLine(part.id, part.check.criterion or line.description, part.check.files)
        for line in lines
        for part in parts(line)
        if isinstance(part.check, JudgeCheck)
    )


def model_lines(rubric: Rubric) -> tuple[str, ...]:
    """Ids of what needs a judge model: judge lines, and graders that ask one by themselves."""
    lines = rubric_lines(rubric)
    graders = (
        part.id
        for line in lines
        for part in parts(line)
        if isinstance(part.check, GraderCheck) and part.check.asks_model
    )
    return (*(line.id for line in judge_lines(lines)), *graders)


def decided_by(line: Line) -> Literal["code", "judge", "both"]:
    """Who decides a line: its leaves are code checks, judge checks or some of each."""
    leaves = [p.check for p in parts(line) if not children(p)]
    if any(isinstance(check, GraderCheck) and check.asks_model for check in leaves):
        return "both"
    judged = sum(isinstance(check, JudgeCheck) for check in leaves)
    if judged == 0:
        return "code"
    return "judge" if judged == len(leaves) else "both"
