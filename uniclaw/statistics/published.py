"""Reader of UniClawBench's published result rows into our row form.

The source holds one best-of-attempts row per harness, model and task: a score (the maximum
over rounds, so `best_score`), a pass flag, tokens and time. It has no rounds, no last score
and no status (a second file form has both status and cycles); those stay unknown. Negative
token counts are kept as anomalies and not as usage.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from pydantic import JsonValue, ValidationError

from uniclaw.errors import UserError
from uniclaw.records import Count, Outcome, Record, Usage
from uniclaw.statistics.rows import Anomaly, EpisodeRow

SUITE = "uniclawbench"
THRESHOLD = 0.9
"""Success threshold of all 400 tasks of the reference."""
_CATEGORY = re.compile(r"^(?P<number>\d{3})_(?P<name>[a-z_]+?)(?P<zh>_zh)?$")
_TASK = re.compile(r"^(?:task_)?(?P<lead>[12])(?P<rest>\d\d_.+)$")
_STATUS: Mapping[str, Outcome] = {
    "pass": Outcome.PASS,
    "budget_exhausted": Outcome.ROUNDS_EXHAUSTED,
    "fail": Outcome.FAIL,
    "global_timeout": Outcome.TIMEOUT,
    "executor_incomplete": Outcome.EXECUTOR_INCOMPLETE,
    "rate_limit": Outcome.RATE_LIMITED,
    "infra_error": Outcome.INFRA_ERROR,
    "pre_exec_failed": Outcome.INFRA_ERROR,
}
MAX_BYTES = 256 * 1024 * 1024


class PublishedReport(Record):
    """What an import found besides the rows."""

    rows: Count
    missing_tokens: Count
    negative_tokens: Count
    """Rows with a negative count; kept as anomalies."""
    passed_below_threshold: Count
    reached_threshold_not_passed: Count
    without_status: Count


def read_published(path: Path, run: str = "published") -> tuple[EpisodeRow, ...]:
    """Rows of a published `results.json` (or of the form with status and cycles).

    Raises:
        UserError: not that format; names file, row and field.
    """
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise UserError(f"larger than {MAX_BYTES} bytes", file=path, value=size)
        document = cast("JsonValue", json.loads(path.read_bytes().decode("utf-8", "replace")))
    except OSError as error:
        raise UserError(f"cannot be read: {error.strerror}", file=path) from error
    except json.JSONDecodeError as error:
        raise UserError(f"not JSON: {error}", file=path) from error
    entries = document.get("rows") if isinstance(document, dict) else document
    if not isinstance(entries, list) or not entries:
        raise UserError("expected a list of rows", file=path, field="rows")
    return tuple(_row(entry, number, path, run) for number, entry in enumerate(entries))


def describe(rows: Iterable[EpisodeRow]) -> PublishedReport:
    """Count what a reader of published rows should know."""
    found = tuple(rows)
    negative = Counter(anomaly.problem for row in found for anomaly in row.anomalies)[
        "negative token count"
    ]
    reached = [(row.best_score or 0.0) >= THRESHOLD for row in found]
    return PublishedReport(
        rows=len(found),
        missing_tokens=sum(row.tokens is None and not row.anomalies for row in found),
        negative_tokens=negative,
        passed_below_threshold=sum(
            bool(row.passed) and not hit for row, hit in zip(found, reached, strict=True)
        ),
        reached_threshold_not_passed=sum(
            row.passed is False and hit for row, hit in zip(found, reached, strict=True)
        ),
        without_status=sum((row.reason or "").startswith("status not published") for row in found),
    )


class _Source:
    """One source row with typed access that names file, row and field in every refusal."""

    def __init__(self, entry: JsonValue, number: int, path: Path) -> None:
        if not isinstance(entry, dict):
            raise UserError(f"row {number}: expected an object", file=path)
        self.entry = entry
        self.number = number
        self.path = path

    def refuse(self, problem: str, field: str, value: object) -> UserError:
        return UserError(f"row {self.number}: {problem}", file=self.path, field=field, value=value)

    def text(self, *names: str) -> str:
        for name in names:
            value = self.entry.get(name)
            if isinstance(value, str) and value:
                return value
        raise self.refuse("expected a text", names[0], self.entry.get(names[0]))

    def number_or_none(self, *names: str) -> float | None:
        for name in names:
            value = self.entry.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise self.refuse("expected a number or null", name, value)
            if not math.isfinite(value):
                raise self.refuse("not a finite number", name, value)
            return float(value)
        return None


def _row(entry: JsonValue, number: int, path: Path, run: str) -> EpisodeRow:
    source = _Source(entry, number, path)
    task = source.text("task_id", "task")
    harness, model = source.text("backend", "framework"), source.text("model_slug", "model")
    capability, language = _category(source)
    outcome, note = _outcome(source)
    passed = source.entry.get("passed")
    if not isinstance(passed, bool):
        raise source.refuse("expected true or false", "passed", passed)
    tokens, anomalies = _tokens(source)
    runtime = source.number_or_none("runtime_ms")
    cycles = source.number_or_none("cycles")
    score = source.number_or_none("score")
    try:
        return EpisodeRow(
            run=run,
            task_id=task,
            family=_family(task),
            suite=SUITE,
            capability=capability,
            language=language,
            cell=f"{harness}:{model}",
            harness=harness,
            model=model,
            outcome=outcome,
            scored=outcome.scored,
            passed=passed if outcome.scored else None,
            threshold=THRESHOLD,
            best_score=score,
            rounds_played=None if cycles is None else int(cycles),
            executor_s=None if runtime is None else runtime / 1000,
            tokens=tokens,
            reason=note,
            anomalies=anomalies,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise source.refuse(
            first["msg"], ".".join(map(str, first["loc"])), first["input"]
        ) from error


def _category(source: _Source) -> tuple[str, str]:
    name = source.text("category")
    match = _CATEGORY.match(name)
    if match is None:
        raise source.refuse("expected a category such as 101_skill_usage", "category", name)
    return match["name"], "zh" if match["zh"] else "en"


def _family(task: str) -> str:
    """Twins differ in the leading digit: 1xx is English, 2xx the same task in Chinese."""
    match = _TASK.match(task)
    return task if match is None else match["rest"]


def _outcome(source: _Source) -> tuple[Outcome, str | None]:
    status = source.entry.get("status")
    if isinstance(status, str):
        if status not in _STATUS:
            raise source.refuse(f"expected one of {sorted(_STATUS)}", "status", status)
        return _STATUS[status], None
    if source.entry.get("passed") is True:
        return Outcome.PASS, "status not published; passed"
    return Outcome.FAIL, "status not published; not passed"


def _tokens(source: _Source) -> tuple[Usage | None, tuple[Anomaly, ...]]:
    prompt = source.number_or_none("prompt_tokens")
    completion = source.number_or_none("completion_tokens")
    if prompt is None or completion is None:
        return None, ()
    if prompt < 0 or completion < 0:
        return None, tuple(
            Anomaly(
                field=name,
                value=value,
                problem="negative token count" if value < 0 else "beside a negative count",
            )
            for name, value in (("tokens.input", prompt), ("tokens.output", completion))
        )
    return Usage(input=int(prompt), output=int(completion)), ()
