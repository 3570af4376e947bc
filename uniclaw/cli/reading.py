"""Prints stored runs and episodes."""

import json
from pathlib import Path

from pydantic import JsonValue

from uniclaw.cli import output
from uniclaw.runner.summary import document, episode_summary, exit_code
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore


def show_run(root: Path, *, as_json: bool) -> int:
    """Print a run; returns its exit code."""
    with RunStore.open(root) as store:
        records, damaged = store.readable()
        planned = sum(store.counts().values())
    for problem in damaged:
        output.note(f"damaged: {problem}")
    if as_json:
        output.print_json(document(root.name, records, planned))
    else:
        output.print_table(output.episode_table(records))
    return exit_code(records, planned)


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
    _conversation(record)


def read_events(path: Path) -> list[JsonValue]:
    """Events of a trajectory file; a torn last line is dropped."""
    lines = path.read_text(encoding="utf-8").split("\n")
    complete = lines[:-1]
    return [json.loads(line) for line in complete]


def _conversation(record: EpisodeRecord) -> None:
    from rich.console import Console
    from rich.markup import escape

    console = Console()
    console.print(
        f"[bold]{record.task_id}[/bold]  {escape(record.cell)}  trial {record.trial}\n"
        f"outcome [bold]{record.outcome.value}[/bold]"
        f"  final {output.score(record.final_score)}  best {output.score(record.best_score)}"
    )
    for item in record.rounds:
        console.rule(f"round {item.round}")
        console.print(f"[cyan]user[/cyan]  {escape(item.message.strip())}")
        console.print(f"[magenta]agent[/magenta]  {escape(item.final_message.strip())}")
        if item.verdict is None:
            continue
        console.print(
            f"[yellow]supervisor (hidden)[/yellow]  {item.verdict.decision.value}"
            f"  score {output.score(item.verdict.score)}"
        )
        for line in item.verdict.lines:
            mark = "fired" if line.fired else output.score(line.result.value)
            console.print(f"    {line.kind} {line.id}: {mark}  {escape(line.result.reason)}")
        for draft in item.drafts:
            if not draft.delivered:
                console.print(f"    [red]blocked draft[/red]  {escape(draft.text.strip())}")
    if record.reason:
        console.print(f"\n{escape(record.reason)}")
