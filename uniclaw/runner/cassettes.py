"""`cassette/RUN` as a model: answers from the stored exchanges of another run, by request."""

from collections.abc import Callable, Mapping
from pathlib import Path

from uniclaw.errors import UserError
from uniclaw.experiment import Planned
from uniclaw.models.cassette import CassetteModel, Tape
from uniclaw.ports import ChatModel
from uniclaw.runner.recall import Marker, Through, exchanges
from uniclaw.runner.wire_tape import WireTape, wire_exchanges
from uniclaw.store.run_store import CallRow, RunStore

PREFIX = "cassette/"


def is_cassette(spec: str) -> bool:
    """Whether a model's name is that of a run with its answers."""
    return spec.startswith(PREFIX)


class Cassettes:
    """Opens the runs that answer, once each.

    An episode is answered from the episodes of the same task and trial, or from all of the task
    where that trial was not played; whichever model answered then. Each stored answer is given
    once to an episode, in the order of the recording; what was not recorded is refused.
    """

    def __init__(self, runs_dir: Path) -> None:
        """Runs are looked for here, unless the name is a path to one."""
        self._runs_dir = runs_dir
        self._open: dict[str, RunStore] = {}

    def store(self, spec: str) -> RunStore:
        """The run that a model's name says.

        Raises:
            UserError: no run there.
            StoreError: it cannot be read.
        """
        name = spec.removeprefix(PREFIX)
        if name not in self._open:
            root = Path(name) if (Path(name) / "run.sqlite").is_file() else self._runs_dir / name
            if not name.strip() or not (root / "run.sqlite").is_file():
                raise UserError(
                    f"no run of this name in {self._runs_dir}", field="model", value=spec
                )
            self._open[name] = RunStore.open(root)
        return self._open[name]

    def _calls(self, spec: str, planned: Planned) -> tuple[RunStore, list[CallRow]]:
        store = self.store(spec)
        of_task = {
            key: value
            for key, value in store.settled_by_key().items()
            if key.task_id == planned.bundle.task_id
        }
        same = [value for key, value in of_task.items() if key.trial == planned.trial]
        return store, [row for e in same or of_task.values() for row in store.calls(e)]

    def tape(self, spec: str, planned: Planned) -> Tape:
        """What the roles of an episode are answered."""
        store, rows = self._calls(spec, planned)
        return Tape(exchanges(store, rows), failures=False)

    def wires(self, spec: str, planned: Planned, on_miss: Callable[[str], None]) -> WireTape:
        """What a harness inside a container is answered."""
        store, rows = self._calls(spec, planned)
        return WireTape(wire_exchanges(store, rows), on_miss)

    def before(
        self, others: Through, planned: Planned, marker: Marker, drawn: Mapping[str, str]
    ) -> Through:
        """The models of an episode: those of runs from their tapes, and the others."""
        tapes: dict[str, Tape] = {}

        def through(spec: str, make: Callable[[], ChatModel]) -> ChatModel:
            if not is_cassette(spec):
                return others(spec, make)
            if spec not in tapes:
                tapes[spec] = self.tape(spec, planned)
            return CassetteModel(
                spec,
                tapes[spec],
                inner=None,
                drawn=drawn,
                any_model=True,
                mark_reused=marker.mark_reused,
            )

        return through

    def close(self) -> None:
        """Close the runs. Idempotent."""
        while self._open:
            self._open.popitem()[1].close()
