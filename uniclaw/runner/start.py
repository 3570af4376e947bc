"""`uniclaw run`: from what the user typed to a played run; all is checked before any of it."""

import asyncio
import importlib.metadata
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

import uniclaw
from uniclaw.assets import Assets, default_roots
from uniclaw.config import LISTS, RunSettings, ToolSettings, resolve, split_list
from uniclaw.errors import UserError
from uniclaw.experiment import Planned, plan
from uniclaw.models.cassette import Tape
from uniclaw.runner.estimate import Plan, estimate, read_history
from uniclaw.runner.experiment_file import find_experiment, read_experiment
from uniclaw.runner.inputs import inputs
from uniclaw.runner.ledger import Ledger
from uniclaw.runner.local import LocalRunner, Watcher, key_of
from uniclaw.runner.preflight import check_all
from uniclaw.runner.retry_policy import AttemptPolicy
from uniclaw.runner.seats import Workshop
from uniclaw.runner.summary import document, exit_code
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore, refuse_existing
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import TaskBundle
from uniclaw.yamlio import read_yaml

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
    planned: int
    assets: Mapping[str, Path]
    interrupted: bool
    stopped: Mapping[str, str] = {}
    """Cell, or `run` -> the budget that was used up before all its episodes were played."""

    @property
    def document(self) -> dict[str, JsonValue]:
        """`{run, summary, episodes}`."""
        found = document(self.name, self.records, self.planned)
        return {**found, "stopped": dict(self.stopped)} if self.stopped else found

    @property
    def exit_code(self) -> int:
        """0 when every planned episode has an outcome that counts."""
        return exit_code(self.records, self.planned)

    @property
    def headline(self) -> str:
        """One sentence for the terminal."""
        scored = [r for r in self.records if r.outcome.scored]
        passed = sum(1 for r in scored if r.passed)
        lost = len(self.records) - len(scored)
        left = self.planned - len(self.records)
        said = "; ".join(f"{name}: {reason}" for name, reason in self.stopped.items())
        why = f" ({said})" if said else ""
        rest = f", {left} not played{why}" if left else ""
        rate = f"{passed} of {len(scored)} scored episodes pass" if scored else "nothing scored"
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

    Raises:
        UserError: anything wrong with what the user gave.
    """
    suite = load_suite(
        settings.suite, assets=assets, tasks=settings.tasks, snapshot=settings.snapshot
    )
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
        recording=recording,
        judges_only=judges_only,
        parent=parent,
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
        None, settings, assets=assets, environ=environ, notify=lambda _: None, build=False
    )
    return estimate(workshop, planned, read_history(tool.runs_dir))


def play_on(
    store: RunStore,
    prepared: Prepared,
    *,
    watch: Callable[[int], Watcher],
    policy: AttemptPolicy | None = None,
) -> RunResult:
    """Play every episode of a run that has no row yet."""
    workshop, planned = prepared
    workshop.store = store
    store.plan([(key_of(p), p.episode_id) for p in planned])
    open_ids = {base for _, base in store.unfinished()}
    waiting = [p for p in planned if p.episode_id in open_ids]
    ledger = Ledger(workshop.settings.budgets)
    ledger.load(store.rows())
    runner = LocalRunner(
        store=store,
        ledger=ledger,
        assemble=workshop.assemble,
        watcher=watch(len(waiting)),
        parallel=workshop.settings.parallel,
        policy=policy or AttemptPolicy(max_attempts=workshop.settings.max_attempts),
    )
    asyncio.run(_run(runner, waiting, workshop))
    records, damaged = store.readable()
    for problem in damaged:
        workshop.notify(f"damaged: {problem}")
    return RunResult(
        name=store.name,
        root=store.root,
        records=records,
        planned=len(planned),
        assets=workshop.assets.taken,
        interrupted=runner.interrupted,
        stopped=ledger.stopped,
    )


async def _run(runner: LocalRunner, waiting: Sequence[Planned], workshop: Workshop) -> None:
    try:
        await runner.run(waiting)
    finally:
        await workshop.close()


def play(
    given: Mapping[str, object],
    *,
    environ: Mapping[str, str],
    config: Path | None,
    notify: Callable[[str], None],
    watch: Callable[[int], Watcher],
) -> RunResult:
    """Check everything, then play.

    Args:
        given: what the command line gave, by setting; None means not given.
        environ: environment variables.
        config: settings file.
        notify: says what goes on before the first episode.
        watch: makes the progress display for a number of episodes.

    Raises:
        UserError: anything wrong with what the user gave; nothing was played.
    """
    settings, tool, assets = resolve_settings(given, environ=environ, config=config)
    if tool.run is not None:
        refuse_existing(tool.runs_dir, tool.run)
    prepared = prepare(tool.run, settings, assets=assets, environ=environ, notify=notify)
    with RunStore.create(tool.runs_dir, prepared.workshop.run, prepared.document()) as store:
        return play_on(store, prepared, watch=watch)
