"""`uniclaw replay`: plays a run again from its stored answers, without any provider."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.errors import UniclawError, UserError
from uniclaw.experiment import Planned
from uniclaw.models.cassette import Tape
from uniclaw.runner.equality import run_differences
from uniclaw.runner.inputs import refuse_changes
from uniclaw.runner.local import Watch, key_of
from uniclaw.runner.recall import exchanges
from uniclaw.runner.resume import stored_document, stored_settings
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.runner.start import RunResult, play_on, prepare
from uniclaw.runner.wire_tape import WireTape, wire_exchanges
from uniclaw.store.run_store import Key, RunStore, refuse_existing

COMPARED = ("settings", "images", "inputs")


class ReplayDiffers(UniclawError):
    """A call was made that had not been recorded; the message names the first difference."""


@dataclass
class Recording:
    """The stored answers of a run, by episode."""

    store: RunStore
    missed: list[str] = field(default_factory=list[str])
    """Calls that were not recorded, in the order they were made."""

    def __post_init__(self) -> None:
        """Look up which attempt became each episode's result."""
        self._ids: Mapping[Key, str] = self.store.settled_by_key()

    def has(self, planned: Planned) -> bool:
        """Whether the episode was played."""
        return key_of(planned) in self._ids

    def tape(self, planned: Planned) -> Tape:
        """Stored answers of an episode's result, failures of providers included."""
        calls = self.store.calls(self._ids[key_of(planned)])
        return Tape(exchanges(self.store, calls), failures=True, on_miss=self.missed.append)

    def wires(self, planned: Planned) -> WireTape:
        """What a harness inside was answered through the gateway."""
        calls = self.store.calls(self._ids[key_of(planned)])
        return WireTape(wire_exchanges(self.store, calls), self.missed.append)

    def parent(self, planned: Planned) -> str:
        """`RUN/EPISODE` of what is played again."""
        return f"{self.store.name}/{self._ids[key_of(planned)]}"


@dataclass(frozen=True)
class Replayed:
    """A replay and how it compares."""

    result: RunResult
    parent: str
    differences: Sequence[str]
    """Between the records of the two runs; empty when they are equal."""
    missed: Sequence[str]

    @property
    def document(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            **self.result.document,
            "parent": self.parent,
            "equal": not self.differences,
            "differences": list(self.differences),
            "unrecorded": list(self.missed),
        }

    @property
    def exit_code(self) -> int:
        """0 when the records are equal."""
        return 1 if self.differences else 0


def replay(
    root: Path,
    *,
    name: str | None,
    strict: bool,
    environ: Mapping[str, str],
    notify: Callable[[str], None],
    watch: Watch,
    assets_dir: Path | None = None,
) -> Replayed:
    """Play the settled episodes of a run again as a new run that names its parent.

    Args:
        root: of the run.
        name: of the new run; None adds `-replay` to the old one's.
        strict: fail on any call that was not recorded.
        environ: environment variables.
        notify: says what goes on.
        watch: makes the progress display of the episodes to play.
        assets_dir: asset tree to look in first.

    Raises:
        UserError: no such run, or what shapes its results has changed since.
        ReplayDiffers: `strict`, and a call was not recorded.
    """
    new_name = name or f"{root.name}-replay"
    refuse_existing(root.parent, new_name)
    assets = Assets(default_roots(assets_dir, environ=environ))
    with RunStore.open(root) as old:
        stored = stored_document(old)
        recording = Recording(old)
        prepared = prepare(
            new_name,
            stored_settings(stored, root),
            assets=assets,
            environ=environ,
            notify=notify,
            salt=str(stored.get("salt")),
            recording=recording.tape,
            parent=recording.parent,
        )
        prepared.workshop.wires = recording.wires
        document = prepared.document()
        refuse_changes(stored, document, COMPARED)
        prepared = prepared._replace(planned=[p for p in prepared.planned if recording.has(p)])
        if not prepared.planned:
            raise UserError("no episode of it was settled", field="run", value=root.name)
        document["parent"] = {"run": root.name, "by": "replay"}
        with RunStore.create(root.parent, new_name, document) as store:
            result = play_on(store, prepared, watch=watch, policy=AttemptPolicy(max_attempts=1))
        found = run_differences(old.settled, result.records)
    if strict and recording.missed:
        raise ReplayDiffers(recording.missed[0])
    return Replayed(result, root.name, found, recording.missed)
