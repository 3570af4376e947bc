"""`uniclaw run`: from what the user typed to a played run; all is checked before any of it."""

import asyncio
import importlib.metadata
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

import uniclaw
from uniclaw.assets import Assets, default_roots
from uniclaw.config import RunSettings, ToolSettings, resolve, split_list
from uniclaw.errors import UserError
from uniclaw.experiment import plan
from uniclaw.runner.local import LocalRunner, Watcher
from uniclaw.runner.preflight import check_all
from uniclaw.runner.seats import Workshop
from uniclaw.runner.summary import document, exit_code
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore, refuse_existing
from uniclaw.suites import load_suite
from uniclaw.yamlio import read_yaml

PACKAGES = (
    "anthropic",
    "docker",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "openai",
    "pydantic",
)
_LISTS = ("tasks", "executor", "supervisor", "user_simulator", "firewall")


class RunResult(NamedTuple):
    """A played run."""

    name: str
    root: Path
    records: Sequence[EpisodeRecord]
    planned: int
    assets: Mapping[str, Path]
    interrupted: bool

    @property
    def document(self) -> dict[str, JsonValue]:
        """`{run, summary, episodes}`."""
        return document(self.name, self.records, self.planned)

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
        rest = f", {self.planned - len(self.records)} not played" if self.interrupted else ""
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
    return {k: split_list(v) if k in _LISTS and isinstance(v, str) else v for k, v in data.items()}


def resolve_settings(
    given: Mapping[str, object], *, environ: Mapping[str, str], config: Path | None
) -> tuple[RunSettings, ToolSettings]:
    """Settings by precedence: command line, environment, file, default."""
    cli = {k: split_list(v) if k in _LISTS and isinstance(v, str) else v for k, v in given.items()}
    data = read_config(config)
    name = str(config) if config else "config file"
    return (
        resolve(RunSettings, cli=cli, environ=environ, file=data, file_name=name),
        resolve(ToolSettings, cli=cli, environ=environ, file=data, file_name=name),
    )


def versions() -> dict[str, str]:
    """Versions of everything that may shape a result."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"uniclaw": uniclaw.__version__, "python": platform.python_version(), **found}


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
    settings, tool = resolve_settings(given, environ=environ, config=config)
    if tool.run is not None:
        refuse_existing(tool.runs_dir, tool.run)
    assets = Assets(default_roots(tool.assets, environ=environ))
    suite = load_suite(
        settings.suite, assets=assets, tasks=settings.tasks, snapshot=settings.snapshot
    )
    name = tool.run or f"{suite.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    planned = plan(name, settings, suite)
    workshop = Workshop(
        run=name, settings=settings, suite=suite, assets=assets, environ=environ, notify=notify
    )
    check_all(workshop, planned)
    workshop.prepare_images()
    stored: dict[str, JsonValue] = {
        "settings": settings.model_dump(mode="json"),
        "versions": {**versions()},
        "images": {**workshop.images},
        "assets": {**assets.used},
        "salt": workshop.salt,
        "started_at": datetime.now(UTC).isoformat(),
    }
    with RunStore.create(tool.runs_dir, name, stored) as store:
        workshop.store = store
        runner = LocalRunner(
            store=store,
            assemble=workshop.assemble,
            watcher=watch(len(planned)),
            parallel=settings.parallel,
        )
        asyncio.run(runner.run(planned))
        records = list(store.episodes())
    return RunResult(
        name, tool.runs_dir / name, records, len(planned), assets.taken, runner.interrupted
    )
