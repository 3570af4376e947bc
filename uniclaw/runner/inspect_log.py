"""Writes a run as an Inspect AI `.eval` log: a zip of a header and one sample per episode.

Read by Inspect's own `read_eval_log`. A sample is an episode: its id is the task, its epoch
counts the episodes of that task, its messages are the trajectory, its scores those of the last
round. An outcome that is nobody's score becomes the sample's error, and has no score.
"""

import io
import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

import uniclaw
from uniclaw.records import Event, EventKind, RoleUsage
from uniclaw.runner.export import events_of
from uniclaw.store.atomic import to_json, write_bytes
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

VERSION = 2
SCORER = "uniclaw"
Json = dict[str, JsonValue]


def write_inspect(store: RunStore, path: Path) -> int:
    """Write the log; returns the number of samples."""
    records = store.readable()[0]
    epochs: Counter[str] = Counter()
    buffer = io.BytesIO()
    summaries: list[JsonValue] = []
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        spec = _spec(store, records)
        start: Json = {"version": VERSION, "eval": spec, "plan": {"name": "plan"}}
        archive.writestr("_journal/start.json", to_json(start))
        for record in records:
            epochs[record.task_id] += 1
            epoch = epochs[record.task_id]
            sample = _sample(record, events_of(store, record), epoch)
            archive.writestr(f"samples/{record.task_id}_epoch_{epoch}.json", to_json(sample))
            summaries.append(_summary(sample))
        archive.writestr("summaries.json", to_json(summaries))
        archive.writestr("header.json", to_json(_header(spec, records)))
    write_bytes(path, buffer.getvalue())
    return len(records)


def _spec(store: RunStore, records: Sequence[EpisodeRecord]) -> Json:
    models = sorted({r.axes.executor for r in records})
    tasks = list(dict.fromkeys(r.task_id for r in records))
    return {
        "run_id": store.name,
        "eval_id": store.name,
        "created": records[0].started_at if records else "1970-01-01T00:00:00+00:00",
        "task": records[0].suite if records else store.name,
        "task_id": store.name,
        "task_version": 0,
        "dataset": {
            "name": records[0].suite if records else store.name,
            "samples": len(tasks),
            "sample_ids": list[JsonValue](tasks),
        },
        "model": models[0] if len(models) == 1 else "several",
        "config": {"epochs": max(Counter(r.task_id for r in records).values(), default=1)},
        "packages": {"uniclaw": uniclaw.__version__},
        "metadata": {"executors": list[JsonValue](models)},
    }


def _header(spec: Json, records: Sequence[EpisodeRecord]) -> Json:
    finals = [r.final_score for r in records if r.final_score is not None]
    mean = sum(finals) / len(finals) if finals else None
    metrics: Json = {} if mean is None else {"mean": {"name": "mean", "value": mean, "params": {}}}
    scored: Json = {"name": SCORER, "scorer": SCORER, "params": {}, "metrics": metrics}
    return {
        "version": VERSION,
        "status": "success",
        "eval": spec,
        "plan": {"name": "plan"},
        "results": {
            "total_samples": len(records),
            "completed_samples": len(finals),
            "scores": [scored],
        },
        "stats": {
            "started_at": min((r.started_at for r in records), default=""),
            "completed_at": max((r.ended_at for r in records), default=""),
            "model_usage": {},
        },
    }


def _sample(record: EpisodeRecord, events: Sequence[Event], epoch: int) -> Json:
    last = record.rounds[-1] if record.rounds else None
    sample: Json = {
        "id": record.task_id,
        "epoch": epoch,
        "input": record.rounds[0].message if record.rounds else "",
        "target": "",
        "messages": [_message(event) for event in events if event.kind is not EventKind.NOTE],
        "output": _output(record, "" if last is None else last.final_message),
        "scores": {},
        "metadata": {
            "episode": record.episode_id,
            "cell": record.cell,
            "trial": record.trial,
            "outcome": record.outcome.value,
            "best_score": record.best_score,
            "rounds": len(record.rounds),
        },
        "model_usage": {role: _usage(spent) for role, spent in record.usage.items() if spent.calls},
        "total_time": record.seconds.get("wall"),
        "started_at": record.started_at,
        "completed_at": record.ended_at,
    }
    if record.outcome.scored:
        sample["scores"] = {
            SCORER: {
                "value": record.final_score,
                "answer": record.outcome.value,
                "metadata": {"threshold": record.threshold},
            }
        }
    else:
        said = record.reason or record.outcome.value
        sample["error"] = {"message": said, "traceback": said, "traceback_ansi": said}
    return sample


def _summary(sample: Json) -> Json:
    kept = ("id", "epoch", "input", "target", "scores", "metadata", "model_usage", "total_time")
    return {**{key: sample[key] for key in kept}, "completed": True}


def _output(record: EpisodeRecord, text: str) -> Json:
    message: Json = {"role": "assistant", "content": text, "source": "generate"}
    return {
        "model": record.axes.executor,
        "choices": [{"message": message, "stop_reason": "stop"}],
    }


def _message(event: Event) -> Json:
    found: Json = {"id": event.id, "content": event.text}
    if event.kind is EventKind.TOOL_CALL:
        call: Json = {
            "id": event.call_id or event.id,
            "function": event.tool or "tool",
            "arguments": dict(event.arguments or {}),
            "type": "function",
        }
        return {**found, "role": "assistant", "tool_calls": [call]}
    if event.kind is EventKind.TOOL_RESULT:
        return {
            **found,
            "role": "tool",
            "tool_call_id": event.call_id or event.id,
            "function": event.tool or "tool",
        }
    if event.kind is EventKind.REASONING:
        reasoning: Json = {"type": "reasoning", "reasoning": event.text}
        return {"id": event.id, "role": "assistant", "content": [reasoning]}
    return {**found, "role": "assistant" if event.role == "tool" else event.role}


def _usage(spent: RoleUsage) -> Json:
    usage = spent.usage
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output + usage.reasoning,
        "total_tokens": usage.total,
        "input_tokens_cache_read": usage.cache_read,
        "input_tokens_cache_write": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
    }
