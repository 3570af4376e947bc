"""`uniclaw rejudge`: scores a run's stored evidence anew; no executor and no user is asked.

Rounds stay as they were played. The episode ends where its new verdicts first say so; when they
never do, the last round that was played is its end, and the record is flagged.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.episode.nodes import load_evidence, outcome_of, undecided
from uniclaw.episode.seat import Seat
from uniclaw.errors import UniclawError, UserError
from uniclaw.experiment import Planned
from uniclaw.hidden.load import load_rubric
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.records import Decision, Outcome
from uniclaw.runner.inputs import refuse_changes
from uniclaw.runner.local import Watch, key_of
from uniclaw.runner.record import build_record
from uniclaw.runner.resume import stored_document, stored_settings
from uniclaw.runner.start import Prepared, RunResult, prepare
from uniclaw.runner.summary import totals
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore, refuse_existing
from uniclaw.suites.bundle import TaskBundle

ENDED_EARLIER = "rejudge: the new verdicts end it before its last round"
NO_END = "rejudge: the new verdicts do not end it; the last round that was played is taken"
_COPIED = ("rounds", "evidence")


def rejudge(
    root: Path,
    *,
    name: str | None,
    supervisor: str | None,
    rubrics: Path | None,
    environ: Mapping[str, str],
    notify: Callable[[str], None],
    watch: Watch,
    assets_dir: Path | None = None,
) -> RunResult:
    """Score the settled episodes of a run anew, as a new run that names its parent.

    Args:
        root: of the run.
        name: of the new run; None adds `-rejudge` to the old one's.
        supervisor: judges instead of the run's own; None keeps them.
        rubrics: directory of `<task_id>/rubric.yaml` instead of the suite's own.
        environ: environment variables, for providers.
        notify: says what goes on.
        watch: makes the progress display of the episodes to play.
        assets_dir: asset tree to look in first.

    Raises:
        UserError: no such run, a rubric that is broken, or changed task files.
    """
    new_name = name or f"{root.name}-rejudge"
    refuse_existing(root.parent, new_name)
    assets = Assets(default_roots(assets_dir, environ=environ))
    with RunStore.open(root) as old:
        stored = stored_document(old)
        settings = stored_settings(stored, root)
        judges = settings.supervisor if supervisor is None else (supervisor,)
        if len(judges) != 1:
            raise UserError(
                "the run has several supervisors; name one", field="supervisor", value=root.name
            )
        changed = settings.model_copy(update={"supervisor": judges})
        prepared = prepare(
            new_name,
            changed,
            assets=assets,
            environ=environ,
            notify=notify,
            salt=str(stored.get("salt")),
            bundle=None if rubrics is None else lambda b: _with_rubric(b, rubrics),
            judges_only=True,
            runs_dir=root.parent,
        )
        document = prepared.document()
        refuse_changes(_public(stored), _public(document), ("images", "inputs"))
        document["parent"] = {"run": root.name, "by": "rejudge"}
        with RunStore.create(root.parent, new_name, document) as store:
            return asyncio.run(_all(store, prepared, old, settings.supervisor, watch))


def _public(document: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The document without the hidden side: new rubrics and judges are what is asked for."""
    inputs = document.get("inputs")
    tasks = inputs.get("tasks") if isinstance(inputs, dict) else None
    kept: JsonValue = {
        task: {k: v for k, v in parts.items() if k not in ("rubric", "solution")}
        for task, parts in (tasks.items() if isinstance(tasks, dict) else ())
        if isinstance(parts, dict)
    }
    return {"images": document.get("images"), "inputs": {"tasks": kept}}


def _with_rubric(bundle: TaskBundle, rubrics: Path) -> TaskBundle:
    home = rubrics / bundle.task_id
    if not (home / "rubric.yaml").is_file():
        raise UserError("no rubric.yaml for this task", file=home, value=bundle.task_id)

    @cache
    def rubric() -> LoadedRubric:
        return load_rubric(home / "rubric.yaml", reference_root=home, source="overlay")

    return replace(bundle, load_rubric=rubric)


async def _all(
    store: RunStore,
    prepared: Prepared,
    old: RunStore,
    judged_by: tuple[str, ...],
    watch: Watch,
) -> RunResult:
    workshop, planned = prepared
    workshop.store = store
    sources = {
        _across(key.cell, judged_by, workshop.settings.supervisor[0], key.task_id, key.trial): value
        for key, value in old.settled_by_key().items()
    }
    waiting = [(p, sources[key_of(p)]) for p in planned if key_of(p) in sources]
    store.plan([(key_of(p), p.episode_id) for p, _ in waiting])
    watcher, gate = watch([p for p, _ in waiting]), asyncio.Semaphore(workshop.settings.parallel)

    async def one(item: Planned, source: str) -> None:
        async with gate:
            watcher.started(item)
            record = await _rejudged(prepared, store, old, item, source)
            store.settle(record)
            watcher.settled(item, record)

    async with asyncio.TaskGroup() as group:
        for item, source in waiting:
            group.create_task(one(item, source))
    return RunResult(
        name=store.name,
        root=store.root,
        records=store.settled,
        totals=totals(store.brief_rows(), len(waiting)),
        planned=len(waiting),
        assets=workshop.assets.taken,
        interrupted=False,
    )


def _across(
    cell: str, before: tuple[str, ...], now: str, task: str, trial: int
) -> tuple[str, str, int]:
    """The key of an episode in the new run: its cell names the new judge."""
    for name in before:
        cell = cell.replace(f" | judge {name} | ", f" | judge {now} | ")
    return task, cell, trial


async def _rejudged(
    prepared: Prepared, store: RunStore, old: RunStore, planned: Planned, source: str
) -> EpisodeRecord:
    started, clock = datetime.now(UTC), time.monotonic()
    store.attempts.begin(planned.episode_id, 1, started.isoformat())
    before = old.episode(source)
    _bring_over(old.episode_dir(source), store.episode_dir(planned.attempt_id))
    seat, provenance, close = await prepared.workshop.assemble(planned)
    try:
        outcome, reason, played, flags = await _verdicts(seat, len(before.rounds))
    finally:
        await close()
    for number in range(played, len(before.rounds)):
        shutil.rmtree(seat.files.root / "rounds" / str(number), ignore_errors=True)
    record = build_record(
        seat,
        outcome=outcome,
        reason=reason,
        started=started,
        wall_s=time.monotonic() - clock,
        provenance=provenance,
    )
    usage = (
        {**before.usage, "judge": record.usage["judge"]}
        if "judge" in record.usage
        else {role: spent for role, spent in before.usage.items() if role != "judge"}
    )
    return record.model_copy(
        update={
            "usage": usage,
            "paid": store.spent(planned.attempt_id, reused=False),
            "container": before.container,
            "flags": (*record.flags, *flags),
            "parent": f"{old.name}/{source}",
        }
    )


async def _verdicts(seat: Seat, rounds: int) -> tuple[Outcome, str | None, int, tuple[str, ...]]:
    """Verdicts of the rounds until one ends the episode: outcome, reason, rounds, flags."""
    for number in range(rounds):
        last = number == rounds - 1
        turns = seat.turns(number)
        if turns[-1].failure is not None:
            return Outcome(turns[-1].failure), turns[-1].detail, number + 1, ()
        left = seat.rounds_left(number, turns)
        try:
            verdict = await seat.supervisor.supervise(
                load_evidence(seat, number), rounds_left=0 if last else left
            )
        except UniclawError as error:
            said = f"{type(error).__name__}: {error}"
            return Outcome(error.outcome), said, number + 1, ()
        seat.files.save(seat.files.ref(number, "verdict"), verdict)
        if verdict.score is None:
            return undecided(verdict), verdict.reason, number + 1, ()
        if verdict.decision is not Decision.CONTINUE:
            open_end = last and left > 0 and verdict.decision is Decision.FAIL
            flags = (NO_END,) if open_end and verdict.recoverable else ()
            flags = flags if last else (ENDED_EARLIER,)
            return *outcome_of(seat, verdict, turns), number + 1, flags
    return Outcome.INFRA_ERROR, "no round of it was played", 0, ()


def _bring_over(source: Path, target: Path) -> None:
    """Rounds and evidence of the parent, without its verdicts."""
    for name in _COPIED:
        if (source / name).is_dir():
            shutil.copytree(
                source / name,
                target / name,
                symlinks=True,
                copy_function=_link,
                ignore=shutil.ignore_patterns("verdict.json"),
            )


def _link(source: str, target: str) -> None:
    # Stored evidence is never written again, so a second name is as good as a copy.
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
