"""Writes a run in the forms that other programs read: rows, ATIF trajectories, Inspect logs.

Rows are flat: one per settled episode. What is nested (checkpoints, usage) becomes columns with
dotted names, or JSON text where it is a list. Nothing of the hidden side's texts is written.
"""

import csv
import importlib.util
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

import uniclaw
from uniclaw.errors import UserError
from uniclaw.records import Event, EventKind
from uniclaw.store.atomic import to_json, write_bytes
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

ATIF_VERSION = "ATIF-v1.4"
Flat = dict[str, JsonValue]


def flat_rows(store: RunStore) -> list[Flat]:
    """One flat mapping per settled episode, in planning order."""
    return [_flat(row) for row in store.rows()]


def _flat(row: Mapping[str, JsonValue], prefix: str = "") -> Flat:
    found: Flat = {}
    for key, value in row.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            found.update(_flat(value, f"{name}."))
        else:
            found[name] = to_json(value) if isinstance(value, list) else value
    return found


def write_rows_jsonl(store: RunStore, path: Path) -> int:
    """Rows as they are stored, one JSON document a line; returns how many."""
    rows = store.rows()
    write_bytes(path, "".join(f"{to_json(dict(row))}\n" for row in rows).encode())
    return len(rows)


def write_rows_csv(store: RunStore, path: Path) -> int:
    """Flat rows as CSV (UTF-8, a missing value is empty); returns how many."""
    rows = flat_rows(store)
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=_columns(rows), restval="")
    writer.writeheader()
    writer.writerows({k: "" if v is None else v for k, v in row.items()} for row in rows)
    write_bytes(path, text.getvalue().encode())
    return len(rows)


def write_rows_parquet(store: RunStore, path: Path) -> int:
    """Flat rows as Parquet; returns how many.

    Raises:
        UserError: the program that writes Parquet is not installed.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise UserError("Parquet needs the package pyarrow: pip install pyarrow", field="parquet")
    from uniclaw.runner.parquet import table_bytes

    rows = flat_rows(store)
    write_bytes(path, table_bytes(rows, _columns(rows)))
    return len(rows)


def _columns(rows: Sequence[Flat]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def events_of(store: RunStore, record: EpisodeRecord) -> tuple[Event, ...]:
    """Events of an episode's trajectory; a torn last line is dropped."""
    path = store.episode_dir(record.episode_id) / "trajectory.jsonl"
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")[:-1]
    return tuple(Event.model_validate(json.loads(line)) for line in lines if line)


def atif(record: EpisodeRecord, events: Sequence[Event]) -> dict[str, JsonValue]:
    """An episode in the Agent Trajectory Interchange Format that Harbor uses."""
    spent = record.usage.get("executor")
    steps: list[JsonValue] = []
    for number, step in enumerate(_steps(events), 1):
        steps.append({"step_id": number, **step})
    metrics: dict[str, JsonValue] = {"total_steps": len(steps)}
    if spent is not None:
        usage = spent.usage
        metrics |= {
            "total_prompt_tokens": usage.input + usage.cache_read + usage.cache_write,
            "total_completion_tokens": usage.output + usage.reasoning,
            "total_cached_tokens": usage.cache_read,
        }
        if spent.cost_usd is not None:
            metrics["total_cost_usd"] = spent.cost_usd
    agent: dict[str, JsonValue] = {"name": record.axes.harness, "version": uniclaw.__version__}
    if record.axes.model is not None:
        agent["model_name"] = record.axes.model
    return {
        "schema_version": ATIF_VERSION,
        "session_id": record.episode_id,
        "agent": agent,
        "steps": steps,
        "final_metrics": metrics,
        "extra": {
            "run": record.run,
            "task_id": record.task_id,
            "cell": record.cell,
            "trial": record.trial,
            "outcome": record.outcome.value,
            "final_score": record.final_score,
            "best_score": record.best_score,
        },
    }


def _steps(events: Sequence[Event]) -> Iterator[dict[str, JsonValue]]:
    """Steps of ATIF: a user's message, or what the agent said, called and got back."""
    step: dict[str, JsonValue] | None = None
    for event in events:
        if event.kind is EventKind.MESSAGE and event.role in ("user", "system"):
            if step is not None:
                yield step
            yield {"source": event.role, "message": event.text}
            step = None
            continue
        if step is None or _begins_another(step, event):
            if step is not None:
                yield step
            step = {"source": "agent", "message": ""}
        _enter(step, event)
    if step is not None:
        yield step


def _begins_another(step: Mapping[str, JsonValue], event: Event) -> bool:
    """Whatever the agent does after it got results is a new step."""
    return "observation" in step and event.kind is not EventKind.TOOL_RESULT


def _enter(step: dict[str, JsonValue], event: Event) -> None:
    if event.kind is EventKind.MESSAGE:
        step["message"] = "\n".join(filter(None, (str(step["message"]), event.text)))
    elif event.kind is EventKind.REASONING:
        before = str(step.get("reasoning_content") or "")
        step["reasoning_content"] = "\n".join(filter(None, (before, event.text)))
    elif event.kind is EventKind.TOOL_CALL:
        _append(
            step,
            "tool_calls",
            {
                "tool_call_id": event.call_id or event.id,
                "function_name": event.tool or "tool",
                "arguments": dict(event.arguments or {}),
            },
        )
    else:
        observation = step.setdefault("observation", {"results": []})
        result: dict[str, JsonValue] = {"content": event.text}
        if event.kind is EventKind.TOOL_RESULT and event.call_id in _call_ids(step):
            result["source_call_id"] = event.call_id
        if isinstance(observation, dict):
            _append(observation, "results", result)


def _call_ids(step: Mapping[str, JsonValue]) -> set[JsonValue]:
    calls = step.get("tool_calls")
    return {
        str(call.get("tool_call_id"))
        for call in (calls if isinstance(calls, list) else ())
        if isinstance(call, dict)
    }


def _append(target: dict[str, JsonValue], key: str, value: JsonValue) -> None:
    items = target.setdefault(key, [])
    if isinstance(items, list):
        items.append(value)


def write_atif(store: RunStore, directory: Path) -> int:
    """One `<episode>.json` per settled episode; returns how many."""
    number = 0
    for record in store.readable()[0]:
        document = atif(record, events_of(store, record))
        write_bytes(
            directory / f"{record.episode_id}.json", (to_json(document, indent=1) + "\n").encode()
        )
        number += 1
    return number
