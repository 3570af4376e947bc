"""`uniclaw run`: from what the user typed to a played run; all is checked before any of it."""

import asyncio
import importlib.metadata
import platform
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

import uniclaw
from uniclaw.assets import Assets, default_roots
from uniclaw.config import LISTS, RunSettings, ToolSettings, resolve, split_list
from uniclaw.episode.boundary import Origin
from uniclaw.errors import UserError
from uniclaw.experiment import ROUND_0, Planned, plan
from uniclaw.models.cassette import Tape
from uniclaw.runner.engines import fleet_of, parse_engine
from uniclaw.runner.estimate import Plan, estimate, read_history
from uniclaw.runner.experiment_file import find_experiment, read_experiment
from uniclaw.runner.inputs import inputs
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.left_out import leave_out, told
from uniclaw.runner.local import LocalRunner, Watch, key_of
from uniclaw.runner.preflight import check_all
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.runner.seats import Workshop
from uniclaw.runner.summary import Totals, exit_code, parts, totals
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore, refuse_existing
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.claw_swe import SweOptions
from uniclaw.suites.privacy import read_secrets
from uniclaw.yamlio import read_yaml

if TYPE_CHECKING:
    from uniclaw.runner.ray_start import Fleet

PACKAGES = (
    "anthropic",
    "docker",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "openai",
    "pydantic",
)


class RunResult(NamedTuple):
    """A played run."""

    name: str
    root: Path
    records: Sequence[EpisodeRecord]
    """Each is read when it is asked for."""
    totals: Totals
    planned: int
    assets: Mapping[str, Path]
    interrupted: bool
    left_out: Mapping[str, str] = {}
    """Imported task that cannot run here -> why; it was not planned."""
    stopped: Mapping[str, str] = {}
    """Cell, or `run` -> the budget that was used up before all its episodes were played."""
    damaged: Sequence[str] = ()
    """What is wrong with records that cannot be read."""

    @property
    def parts(self) -> dict[str, JsonValue | Iterator[JsonValue]]:
        """`{run, summary, episodes}`; the episodes are read as they are taken."""
        found = parts(self.name, self.records, self.totals)
        for name, said in (("stopped", self.stopped), ("left_out", self.left_out)):
            if said:
                found[name] = dict(said)
        return found

    @property
    def document(self) -> dict[str, JsonValue]:
        """All of `parts` in memory: for runs of a few hundred episodes."""
        taken = self.parts.items()
        return {name: list(v) if isinstance(v, Iterator) else v for name, v in taken}

    @property
    def exit_code(self) -> int:
        """0 when every planned episode has an outcome that counts."""
        return exit_code(self.totals, self.planned, self.damaged)

    @property
    def headline(self) -> str:
        """One sentence for the terminal."""
        passed, scored = self.totals.passed, self.totals.scored
        lost = self.totals.settled - scored
        left = self.planned - self.totals.settled
        said = "; ".join(f"{name}: {reason}" for name, reason in self.stopped.items())
        why = f" ({said})" if said else ""
        rest = f", {left} not played{why}" if left else ""
        rate = f"{passed} of {scored} scored episodes pass" if scored else "nothing scored"
        return f"run {self.name}: {rate}, {lost} without a score{rest} ({self.root})"


def read_config(path: Path | None) -> Mapping[str, object] | None:
    """The settings file, if one is given.

    Raises:
        UserError: unreadable, or not a mapping of known settings.
    """
    if path is None:
        return None
    data = read_yaml(path)
    if not isinstance(data, dict):
        raise UserError("expected a mapping of settings", file=path, value=data)
    known = {*RunSettings.model_fields, *ToolSettings.model_fields}
    for key, value in data.items():
        if key not in known:
            raise UserError("unknown setting", file=path, field=key, value=value)
    return {k: split_list(v) if k in LISTS and isinstance(v, str) else v for k, v in data.items()}


def resolve_settings(
    given: Mapping[str, object], *, environ: Mapping[str, str], config: Path | None
) -> tuple[RunSettings, ToolSettings, Assets]:
    """Settings by precedence: command line, environment, file, default.

    A suite that is a file is an experiment; it comes before the settings file.
    """
    place = given.get("assets") or environ.get("UNICLAW_ASSETS")
    assets = Assets(default_roots(Path(str(place)) if place else None, environ=environ))
    cli = {k: split_list(v) if k in LISTS and isinstance(v, str) else v for k, v in given.items()}
    data, name = read_config(config), str(config) if config else "config file"
    experiment = find_experiment(str(given.get("suite") or ""), assets)
    if experiment is not None:
        data, name = {**(data or {}), **read_experiment(experiment)}, str(experiment)
        cli.pop("suite")
    return (
        resolve(RunSettings, cli=cli, environ=environ, file=data, file_name=name),
        resolve(ToolSettings, cli=cli, environ=environ, file=data, file_name=name),
        assets,
    )


def versions() -> dict[str, str]:
    """Versions of everything that may shape a result."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"uniclaw": uniclaw.__version__, "python": platform.python_version(), **found}


class Prepared(NamedTuple):
    """A checked plan with everything that its episodes share."""

    workshop: Workshop
    planned: Sequence[Planned]

    def document(self) -> dict[str, JsonValue]:
        """What is stored with the run: all that shapes its results."""
        shop = self.workshop
        return {
            "settings": shop.settings.model_dump(mode="json"),
            "versions": {**versions()},
            "images": {**shop.images},
            "inputs": inputs(shop.settings, shop.suite, shop.assets),
            "assets": {**shop.assets.used},
            "salt": shop.salt,
            "started_at": datetime.now(UTC).isoformat(),
        }


def prepare(
    name: str | None,
    settings: RunSettings,
    *,
    assets: Assets,
    environ: Mapping[str, str],
    notify: Callable[[str], None],
    salt: str | None = None,
    build: bool = True,
    recording: Callable[[Planned], Tape] | None = None,
    judges_only: bool = False,
    parent: Callable[[Planned], str] | None = None,
    bundle: Callable[[TaskBundle], TaskBundle] | None = None,
    origin: Callable[[Planned], Origin] | None = None,
    runs_dir: Path = Path("runs"),
) -> Prepared:
    """Load, plan, check and build; nothing is played and nothing is written.

    Args:
        name: of the run; None makes one from the suite's name and the time.
        settings: of the run.
        assets: search path.
        environ: environment variables, for providers.
        notify: says what goes on.
        salt: of the neutral ids; None draws a new one.
        build: build the images that are missing.
        recording: stored answers of an episode, for a replay.
        judges_only: ask no executor and no user simulator.
        parent: what an episode is made from.
        bundle: changes a task before it is planned.
        origin: for forks, what an episode continues.
        runs_dir: where runs are kept.

    Raises:
        UserError: anything wrong with what the user gave.
    """
    private = read_secrets(settings.privacy)
    suite = load_suite(
        settings.suite,
        assets=assets,
        tasks=settings.tasks,
        snapshot=settings.snapshot,
        credentials=private.names,
        placeholders=private.placeholders,
        swe=SweOptions(
            prompt=settings.swe_prompt,
            history=settings.history,
            patch_source=settings.patch_source,
        ),
    )
    suite, out = leave_out(suite, settings.tasks)
    for line in told(out):
        notify(line)
    if bundle is not None:
        suite = replace(suite, tasks=tuple(bundle(b) for b in suite.tasks))
    run = name or f"{suite.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    planned = plan(run, settings, suite, assets)
    workshop = Workshop(
        run=run,
        settings=settings,
        suite=suite,
        assets=assets,
        environ=environ,
        notify=notify,
        secrets=private,
        left_out=out,
        recording=recording,
        judges_only=judges_only,
        parent=parent,
        origin=origin,
        runs_dir=runs_dir,
    )
    if salt is not None:
        workshop.salt = salt
    check_all(workshop, planned)
    if build:
        workshop.prepare_images()
    return Prepared(workshop, planned)


def outline(given: Mapping[str, object], *, environ: Mapping[str, str]) -> Plan:
    """What a run would play and cost; checked as for a run, but nothing is built or played.

    Args:
        given: what the command line gave, by setting; None means not given.
        environ: environment variables.

    Raises:
        UserError: anything wrong with what the user gave.
    """
    settings, tool, assets = resolve_settings(given, environ=environ, config=None)
    workshop, planned = prepare(
        None,
        settings,
        assets=assets,
        environ=environ,
        notify=lambda _: None,
        build=False,
        runs_dir=tool.runs_dir,
    )
    return estimate(workshop, planned, read_history(tool.runs_dir))


def play_on(
    store: RunStore,
    prepared: Prepared,
    *,
    watch: Watch,
    policy: AttemptPolicy | None = None,
    fleet: "Fleet | None" = None,
) -> RunResult:
    """Play every episode of a run that has no row yet: on a fleet, else in this process."""
    workshop, planned = prepared
    workshop.store = store
    store.plan([(key_of(p), p.episode_id) for p in planned])
    open_ids = {base for _, base in store.unfinished()}
    waiting = [p for p in planned if p.episode_id in open_ids]
    ledger = Ledger(workshop.settings.budgets)
    ledger.load(store.brief_rows())
    watcher = watch(waiting)
    policy = policy or AttemptPolicy(max_attempts=workshop.settings.max_attempts)
    if fleet is None:
        runner = LocalRunner(
            store=store,
            ledger=ledger,
            assemble=workshop.assemble,
            watcher=watcher,
            parallel=workshop.settings.parallel,
            policy=policy,
        )
        asyncio.run(_run(runner, waiting, workshop))
        interrupted = runner.interrupted
    else:
        interrupted = fleet.play(store, waiting, watcher=watcher, ledger=ledger, policy=policy)
    return RunResult(
        name=store.name,
        root=store.root,
        records=store.settled,
        totals=totals(store.brief_rows(), len(planned)),
        planned=len(planned),
        assets=workshop.assets.taken,
        interrupted=interrupted,
        stopped=ledger.stopped,
        left_out=workshop.left_out,
    )


async def _run(runner: LocalRunner, waiting: Sequence[Planned], workshop: Workshop) -> None:
    try:
        # What others continue from comes first.
        first = [p for p in waiting if p.axes.user_simulator == ROUND_0]
        rest = [p for p in waiting if p.axes.user_simulator != ROUND_0]
        for part in (first, rest):
            if part or not waiting:
                await runner.run(part)
    finally:
        await workshop.close()


def play(
    given: Mapping[str, object],
    *,
    environ: Mapping[str, str],
    config: Path | None,
    notify: Callable[[str], None],
    watch: Watch,
) -> RunResult:
    """Check everything, then play.

    Args:
        given: what the command line gave, by setting; None means not given.
        environ: environment variables.
        config: settings file.
        notify: says what goes on before the first episode.
        watch: makes the progress display of the episodes to play.

    Raises:
        UserError: anything wrong with what the user gave; nothing was played.
    """
    settings, tool, assets = resolve_settings(given, environ=environ, config=config)
    if tool.run is not None:
        refuse_existing(tool.runs_dir, tool.run)
    engine = parse_engine(tool.engine)
    prepared = prepare(
        tool.run,
        settings,
        assets=assets,
        environ=environ,
        notify=notify,
        build=engine.local,
        runs_dir=tool.runs_dir,
    )
    with (
        fleet_of(engine, prepared.workshop, notify) as fleet,
        RunStore.create(tool.runs_dir, prepared.workshop.run, prepared.document()) as store,
    ):
        return play_on(store, prepared, watch=watch, fleet=fleet)
