"""Prints an episode as a readable conversation."""

import json
import unicodedata

from rich.console import Console
from rich.markup import escape

from uniclaw.cli import output
from uniclaw.episode.files import TextFile
from uniclaw.episode.referee import Draft
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Event, EventKind, Turn
from uniclaw.runner.follow import Gone, Step
from uniclaw.store.records import DraftRecord, EpisodeRecord, RoundRecord

SHOWN_LINES = 6
"""Lines of one tool result."""
SHOWN_CHARS = 600


class Conversation:
    """Writes steps to a terminal (colours) or a pipe (plain)."""

    def __init__(self, *, named: bool = False, console: Console | None = None) -> None:
        """Bind.

        Args:
            named: put the episode before each part: several go on at once.
            console: where to write; None is standard output.
        """
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._named = named

    def step(self, step: Step | Gone) -> None:
        """Print something that happened."""
        if isinstance(step, Gone):
            names = ", ".join(step.episodes) or "episodes that have not begun"
            self._console.print(f"[red]no runner works on this run any more[/red]; open: {names}")
            return
        name = f"{step.episode} " if self._named else ""
        match step.what:
            case TextFile():
                self._console.rule(f"{name}round {step.round}")
                self._part("cyan", "user", step.what.text)
            case Turn():
                self.turn(step.what.events, name)
            case Verdict():
                self.verdict(step.what, name)
            case Draft():
                for record in step.what.records:
                    self.draft(record)
            case EpisodeRecord():
                self.end(step.what)

    def episode(self, record: EpisodeRecord, events: "list[Event]") -> None:
        """Print a settled episode."""
        self._console.print(
            f"[bold]{escape(record.task_id)}[/bold]  {escape(record.cell)}  trial {record.trial}"
        )
        for item in record.rounds:
            self._round(item, [event for event in events if event.round == item.round])
        self.end(record)

    def _round(self, item: RoundRecord, events: "list[Event]") -> None:
        self._console.rule(f"round {item.round}")
        self._part("cyan", "user", item.message)
        if events:
            self.turn(tuple(events), "")
        else:
            self._part("magenta", "agent", item.final_message)
        if item.verdict is not None:
            self.verdict(item.verdict, "")
        for draft in item.drafts:
            self.draft(draft)

    def turn(self, events: "tuple[Event, ...]", name: str) -> None:
        """Print what the executor did and said; the user's own message is known."""
        for event in events:
            match event.kind:
                case EventKind.MESSAGE if event.role != "user":
                    self._part("magenta", f"{name}agent", event.text)
                case EventKind.TOOL_CALL:
                    self._part("blue", str(event.tool), _call(event))
                case EventKind.TOOL_RESULT:
                    self._result(event)
                case EventKind.NOTE:
                    self._part("dim", "note", event.text)
                case _:
                    pass

    def _result(self, event: Event) -> None:
        text = _cut(event.text)
        if text:
            self._console.print(f"[dim]{_plain(_indent(text))}[/dim]")
        if event.exit_code:
            self._console.print(f"    [red]exit code {event.exit_code}[/red]")

    def verdict(self, verdict: Verdict, name: str) -> None:
        """Print what the hidden side found."""
        self._console.print(
            f"[yellow]{name}supervisor (hidden)[/yellow]  {verdict.decision.value}"
            f"  score {output.score(verdict.score)}"
        )
        for line in verdict.lines:
            mark = "fired" if line.fired else output.score(line.result.value)
            self._console.print(
                f"    {line.kind} {_plain(line.id)}: {mark}  {_plain(line.result.reason)}"
            )

    def draft(self, draft: DraftRecord) -> None:
        """Print a draft that was not delivered as it was."""
        if draft.delivered:
            return
        self._part("red", "    blocked draft", draft.text)
        for hit in draft.hits:
            self._console.print(f"        {hit.get('kind')}: {_plain(str(hit.get('matched')))}")

    def end(self, record: EpisodeRecord) -> None:
        """Print how it ended."""
        name = f"{record.episode_id} {record.task_id}  " if self._named else ""
        self._console.rule()
        self._console.print(
            f"{escape(name)}outcome [bold]{record.outcome.value}[/bold]"
            f"  final {output.score(record.final_score)}  best {output.score(record.best_score)}"
        )
        if record.reason:
            self._console.print(_plain(record.reason))

    def _part(self, colour: str, who: str, text: str) -> None:
        self._console.print(f"[{colour}]{escape(who)}[/{colour}]  {_plain(text.strip())}")


def _plain(text: str) -> str:
    """Text of others for a terminal: no markup, no control codes that move or recolour."""
    kept = (c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))
    return escape("".join(kept))


def _call(event: Event) -> str:
    arguments = dict(event.arguments or {})
    command = arguments.get("command") or arguments.get("cmd")
    if isinstance(command, str) and len(arguments) == 1:
        return _cut(command)
    return _cut(json.dumps(arguments, ensure_ascii=False))


def _cut(text: str) -> str:
    """Head of a long text, with what was left out said."""
    lines = text.strip().splitlines()
    shown = "\n".join(lines[:SHOWN_LINES])[:SHOWN_CHARS]
    left = len(text.strip()) - len(shown)
    return f"{shown}\n[{left} characters more]" if left > 0 else shown


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
