"""Prints stored runs and episodes."""

import json
from pathlib import Path

from pydantic import JsonValue

from uniclaw.cli import output
from uniclaw.records import Event
from uniclaw.runner.summary import episode_summary, exit_code, parts, totals
from uniclaw.store.run_store import RunStore


def show_run(root: Path, *, as_json: bool) -> int:
    """Print a run; returns its exit code."""
    with RunStore.open(root) as store:
        records, planned = store.settled, sum(store.counts().values())
        found = totals(store.brief_rows(), planned)
    if as_json:
        output.print_parts(parts(root.name, records, found))
    else:
        output.print_table(output.episode_table(records))
    for problem in records.damaged.values():
        output.note(f"damaged: {problem}")
    return exit_code(found, planned, records.damaged)


def show_episode(root: Path, episode_id: str, *, trajectory: bool, as_json: bool) -> None:
    """Print one episode as a conversation, or its events."""
    with RunStore.open(root) as store:
        record = store.episode(episode_id)
        events = read_events(store.episode_dir(episode_id) / "trajectory.jsonl")
    if as_json:
        shown: dict[str, JsonValue] = episode_summary(record)
        if trajectory:
            shown["trajectory"] = list(events)
        output.print_json(shown)
        return
    if trajectory:
        for event in events:
            output.print_line(json.dumps(event, ensure_ascii=False))
        return
    from uniclaw.cli.conversation import Conversation

    Conversation().episode(record, [Event.model_validate(event) for event in events])


def read_events(path: Path) -> list[JsonValue]:
    """Events of a trajectory file; a torn last line is dropped."""
    lines = path.read_text(encoding="utf-8").split("\n")
    complete = lines[:-1]
    return [json.loads(line) for line in complete]


def follow_run(root: Path, episode_id: str | None) -> int:
    """Print what happens as it happens; returns 0 when everything is settled, else 1."""
    from uniclaw.cli.conversation import Conversation
    from uniclaw.runner.follow import Gone, follow

    told = Conversation(named=episode_id is None)
    gone = False
    for step in follow(root, episode_id):
        told.step(step)
        gone = gone or isinstance(step, Gone)
    return 1 if gone else 0
