"""Evaluate the lines of a rubric over frozen evidence: one result a line.

A check that breaks on what the agent left is the agent's, and counts against it: value 0 in a
checkpoint, value 1 where a high value hurts the attempt (a cap, the part of a `not`), flagged
either way. Otherwise output built to break a cap would end without a score. Where machine or
author, not the agent, kept a check from being decided, the value is None.
"""

from collections.abc import Sequence
from typing import NamedTuple

from uniclaw.errors import JudgeError
from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    CommandCheck,
    CsvCheck,
    FileCheck,
    GraderCheck,
    ImageCheck,
    JsonCheck,
    JudgeCheck,
    NotCheck,
    PythonCheck,
    StateCheck,
    TextCheck,
    TraceCheck,
)
from uniclaw.hidden.tests_check import TestsCheck
from uniclaw.hidden.verdict import CheckResult, LineResult
from uniclaw.supervisor.checks.commands import command_context, conclude_command
from uniclaw.supervisor.checks.context import (
    BrokenOnEvidence,
    CheckContext,
    Undecidable,
    short,
)
from uniclaw.supervisor.checks.documents import check_json, check_state
from uniclaw.supervisor.checks.files import check_file
from uniclaw.supervisor.checks.functions import check_python
from uniclaw.supervisor.checks.graders import check_graded
from uniclaw.supervisor.checks.images import check_image
from uniclaw.supervisor.checks.tables import check_csv
from uniclaw.supervisor.checks.tests import check_tests
from uniclaw.supervisor.checks.texts import check_text
from uniclaw.supervisor.checks.traces import check_trace
from uniclaw.supervisor.lines import Line, Part, children, decided_by

Leaf = (
    FileCheck
    | JsonCheck
    | CsvCheck
    | TextCheck
    | ImageCheck
    | StateCheck
    | TraceCheck
    | GraderCheck
    | PythonCheck
)
"""Checks that hold no other and are decided by code."""

_HALF = 0.5
_MAX_EVIDENCE = 20


class Evaluation(NamedTuple):
    """Results of all lines, and remarks on how they came about."""

    lines: tuple[LineResult, ...]
    flags: tuple[str, ...]
    """`check-error:<check id>` for checks that broke on the evidence."""


def evaluate_lines(lines: Sequence[Line], context: CheckContext) -> Evaluation:
    """Evaluate all lines.

    Raises:
        JudgeError: a judge line has no result.
    """
    evaluator = _Evaluator()
    results = tuple(evaluator.line(line, context) for line in lines)
    return Evaluation(results, tuple(dict.fromkeys(evaluator.flags)))


class _Evaluator:
    def __init__(self) -> None:
        self.flags: list[str] = []

    def line(self, line: Line, context: CheckContext) -> LineResult:
        result = self.check(Part(line.id, line.check, line.kind != "cap", None), context)
        return LineResult(
            id=line.id,
            kind=line.kind,
            weight=line.weight,
            cap=line.cap,
            description=line.description,
            decided_by=decided_by(line),
            result=result,
            tag=line.tag,
            artifact=line.artifact,
        )

    def check(self, part: Part, context: CheckContext) -> CheckResult:
        try:
            result = self._carry_out(part, context)
        except BrokenOnEvidence as error:
            self.flags.append(f"check-error:{part.id}")
            result = CheckResult(value=0.0 if part.positive else 1.0, reason=short(str(error)))
        except Undecidable as error:
            result = CheckResult(value=None, reason=short(str(error)))
        return _mark(part, result)

    def _carry_out(self, part: Part, context: CheckContext) -> CheckResult:
        match part.check:
            case AllCheck() | AnyCheck() | NotCheck():
                return self._combined(part, context)
            case CommandCheck():
                return self._command(part, part.check, context)
            case JudgeCheck():
                if part.id not in context.judged:
                    raise JudgeError(f"the judge gave no result for line {part.id!r}")
                return context.judged[part.id]
            case TestsCheck():
                return check_tests(part.check, context)
            case _:
                return _leaf(part.id, part.check, context)

    def _combined(self, part: Part, context: CheckContext) -> CheckResult:
        results = [self.check(child, context) for child in children(part)]
        values = [r.value for r in results]
        known = [v for v in values if v is not None]
        match part.check:
            case NotCheck():
                value = None if not known else 1.0 - known[0]
            case AnyCheck():
                value = max(known, default=None) if len(known) == len(values) else None
                value = 1.0 if 1.0 in known else value
            case AllCheck(mean=True):
                value = sum(known) / len(known) if len(known) == len(values) else None
            case _:
                value = min(known) if len(known) == len(values) else None
                value = 0.0 if 0.0 in known else value
        return _gather(part, value, results)

    def _command(self, part: Part, check: CommandCheck, context: CheckContext) -> CheckResult:
        """Phase 2 sees the outputs; a wrong exit code forfeits it."""
        output = context.commands.get(part.id)
        first = conclude_command(check, output)
        if first.value != 1.0 or output is None or output.layer is None:
            return first
        inside = children(part)
        if not inside:
            return first
        second = self.check(inside[0], command_context(context, output))
        if not output.truncated:
            return second
        return second.model_copy(update={"reason": f"{second.reason} ({first.reason})"})


def _leaf(part: str, check: Leaf, context: CheckContext) -> CheckResult:
    match check:
        case FileCheck():
            return check_file(check, context)
        case JsonCheck():
            return check_json(check, context)
        case CsvCheck():
            return check_csv(part, check, context)
        case TextCheck():
            return check_text(check, context)
        case ImageCheck():
            return check_image(part, check, context)
        case StateCheck():
            return check_state(check, context)
        case TraceCheck():
            return check_trace(check, context)
        case GraderCheck():
            return check_graded(check, context)
        case PythonCheck():
            return check_python(part, context)


def _gather(part: Part, value: float | None, results: Sequence[CheckResult]) -> CheckResult:
    """One result of several: the reasons of those that decided it."""
    if isinstance(part.check, NotCheck):
        reason = f"not: {results[0].reason}"
    elif value is None:
        reason = "; ".join(r.reason for r in results if r.value is None)
    elif value >= 1 and isinstance(part.check, AnyCheck):
        reason = next(r.reason for r in results if r.value == value)
    elif value >= 1:
        reason = "; ".join(r.reason for r in results)
    else:
        reason = "; ".join(r.reason for r in results if r.value != 1)
    return CheckResult(
        value=value,
        reason=short(reason),
        evidence=tuple(dict.fromkeys(e for r in results for e in r.evidence))[:_MAX_EVIDENCE],
        terminal=any(r.terminal for r in results),
        approximate="; ".join(r.approximate for r in results if r.approximate) or None,
        disagreement=next((r.disagreement for r in results if r.disagreement), ()),
    )


def _mark(part: Part, result: CheckResult) -> CheckResult:
    """Add what the check itself declares: terminal where it fired, approximate with its reason."""
    value = result.value
    fired = value is not None and (value == 0 if part.positive else value >= _HALF)
    approximate = "; ".join(t for t in (part.check.approximate, result.approximate) if t)
    return result.model_copy(
        update={
            "terminal": result.terminal or (part.check.terminal and fired),
            "approximate": approximate or None,
        }
    )
