"""When two episodes, or two runs, are equal: in all but ids, stamps, durations and names of hosts.

What is left out: the run's and the episode's ids and neutral ids, which attempt it was and what
came before, every stamp and duration, container names, image digests (the tag, a hash of the
recipe, is compared), and what was paid (the usage is compared).
"""

from collections.abc import Iterable

from pydantic import JsonValue

from uniclaw.runner.inputs import differences
from uniclaw.store.records import EpisodeRecord

LEFT_OUT = frozenset(
    {
        "run",
        "episode_id",
        "neutral_episode_id",
        "neutral_task_id",
        "attempt",
        "earlier",
        "paid",
        "parent",
        "seconds",
        "executor_s",
        "waited_s",
        "started_at",
        "ended_at",
        "container",
    }
)


def essence(record: EpisodeRecord) -> dict[str, JsonValue]:
    """What must be equal in equal episodes, as JSON."""
    data = record.model_dump(mode="json")
    budget = data["budget"]
    found = {key: value for key, value in data.items() if key not in LEFT_OUT}
    found["budget"] = budget  # its `executor_s` is a limit, not a duration
    found["images"] = {name: text.partition(" ")[0] for name, text in record.images.items()}
    found["rounds"] = [
        {key: value for key, value in item.items() if key not in LEFT_OUT}
        for item in data["rounds"]
    ]
    return found


def episode_differences(one: EpisodeRecord, other: EpisodeRecord) -> list[str]:
    """Where two episodes differ, one line each; empty when they are equal."""
    return _walk(essence(one), essence(other), "")


def _walk(one: JsonValue, other: JsonValue, path: str) -> list[str]:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            line
            for number, (a, b) in enumerate(zip(one, other, strict=True))
            for line in _walk(a, b, f"{path}[{number}]")
        ]
    if isinstance(one, dict) and isinstance(other, dict):
        keys = (*one, *(k for k in other if k not in one))
        return [
            line
            for key in keys
            for line in _walk(one.get(key), other.get(key), f"{path}.{key}" if path else key)
        ]
    return differences(one, other, path)


def run_differences(one: Iterable[EpisodeRecord], other: Iterable[EpisodeRecord]) -> list[str]:
    """Where two runs differ, by task, cell and trial; empty when they are equal."""
    first = {(r.task_id, r.cell, r.trial): r for r in one}
    second = {(r.task_id, r.cell, r.trial): r for r in other}
    found: list[str] = []
    for key in (*first, *(k for k in second if k not in first)):
        name = f"{key[0]} ({key[1]}, trial {key[2]})"
        a, b = first.get(key), second.get(key)
        if a is None or b is None:
            found.append(f"{name}: only in one of the two")
        else:
            found += [f"{name}: {line}" for line in episode_differences(a, b)]
    return found
