"""The methods paragraph, written from what the run stored and from its rows."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

from uniclaw.report.axes import short
from uniclaw.statistics.rows import EpisodeRow
from uniclaw.statistics.stats import StatsReport

Settings = Mapping[str, JsonValue]


def methods(
    rows: Sequence[EpisodeRow], report: StatsReport, stored: Settings | None
) -> tuple[str, ...]:
    """How the results came about, in sentences; what is not known is said to be unknown.

    Args:
        rows: of the run.
        report: its statistics.
        stored: what the run stored when it began; None for imported rows.
    """
    return (
        _tasks(rows),
        _cells(rows),
        *(() if stored is None else (_settings(stored), _versions(stored))),
        *(
            ("The rows were imported; how they were made is not on record here.",)
            if not stored
            else ()
        ),
        _statistics(report),
        report.missing.statement,
    )


def _tasks(rows: Sequence[EpisodeRow]) -> str:
    tasks = {row.task_id for row in rows}
    families = {row.family for row in rows}
    languages = sorted({row.language for row in rows})
    trials = {row.trial for row in rows}
    return (
        f"{len(rows)} episodes were planned over {len(tasks)} tasks in {len(families)} families"
        f" of the suite {_names(row.suite for row in rows)}"
        f" (languages: {', '.join(languages)}; trials per task and cell: {len(trials)})."
    )


def _cells(rows: Sequence[EpisodeRow]) -> str:
    models = _names(short(row.model) for row in rows if row.model)
    limits = sorted(
        {row.feedback_rounds_limit for row in rows if row.feedback_rounds_limit is not None}
    )
    rounds = (
        f"at most {_list(str(limit) for limit in limits)} feedback rounds"
        if limits
        else "the feedback rounds of each task"
    )
    return (
        f"Executors: {_names(row.harness for row in rows)}"
        f"{f' with the models {models}' if models else ' without a model'}. "
        f"Supervisor: {_names(short(row.supervisor) for row in rows)}; user simulator:"
        f" {_names(short(row.user_simulator) for row in rows)}; firewall policies:"
        f" {_names(row.policy for row in rows)}; {rounds}."
    )


def _settings(stored: Settings) -> str:
    given = stored.get("settings")
    settings: Settings = given if isinstance(given, dict) else {}
    parts = [
        f"environment {settings.get('environment')}",
        f"seed {settings.get('seed')}",
        f"{settings.get('votes')} answer(s) of each judge",
        f"at most {settings.get('max_attempts')} attempts at an episode",
    ]
    for key, text in (
        ("memory_bytes", "bytes of memory"),
        ("cpus", "CPUs"),
        ("pids", "processes"),
    ):
        if settings.get(key) is not None:
            parts.append(f"{settings[key]} {text}")
    if settings.get("max_cost_usd") is not None:
        parts.append(f"at most {settings['max_cost_usd']} USD an episode")
    if settings.get("auditor"):
        parts.append(f"auditor {short(str(settings['auditor']))}")
    if settings.get("network"):
        parts.append("network through a recording proxy for tasks that ask for it")
    return f"Settings: {', '.join(parts)}."


def _versions(stored: Settings) -> str:
    versions, images = stored.get("versions"), stored.get("images")
    found = [f"{k} {v}" for k, v in versions.items()] if isinstance(versions, dict) else []
    told = f"Versions: {', '.join(found)}." if found else "Versions are not on record."
    if isinstance(images, dict) and images:
        told += " Images: " + ", ".join(f"{name} ({value})" for name, value in images.items()) + "."
    return told


def _statistics(report: StatsReport) -> str:
    return (
        f"Pass and score are read by the definition `{report.definition}`. Intervals cover"
        f" {report.level:.0%} nominally: a cluster bootstrap over task families within"
        f" capabilities ({report.resamples:,} resamples, seed {report.seed}), Wilson's interval"
        " with the effective sample size where an outcome is rare."
    )


def _names(values: Iterable[str]) -> str:
    return _list(dict.fromkeys(values))


def _list(values: Iterable[str]) -> str:
    return ", ".join(values) or "none"
