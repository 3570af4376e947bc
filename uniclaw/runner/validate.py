"""`uniclaw validate`: what is wrong with a suite, and what simple agents score on it.

For every task whose rubric needs no judge: the null agent, shortcut agents, the solution,
and one mutant per line. A good rubric gives the first two nothing, passes the solution, and
takes from each mutant exactly its line.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.assets import Assets, default_roots
from uniclaw.environments import EnvironmentKind
from uniclaw.errors import UniclawError, UserError
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.records import Record, Unit
from uniclaw.runner.bench import Bench, BenchSeat, Graded
from uniclaw.runner.shortcuts import SHORTCUTS, Mutant, read_mutants
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Finding, TaskBundle
from uniclaw.suites.privacy import read_secrets
from uniclaw.suites.report import NULL_SCORE, Lint, lints
from uniclaw.supervisor.lines import model_lines


class Plan(NamedTuple):
    """What to validate and how."""

    tasks: Sequence[str] = ()
    environment: EnvironmentKind = "docker"
    play: bool = True
    repeat: int = 1
    solutions: Path | None = None
    parallel: int = 2
    assets: Path | None = None
    privacy: Path | None = None
    """File of private variables, for tasks that ask for them."""
    snapshot: bool = False
    """Frozen copies stand for live services."""


class MutantResult(Record):
    """What one mutant lost."""

    file: str
    line: str
    lost: bool
    """Its line was lost."""
    exact: bool
    """No other line changed, beside those it declares."""
    changed: tuple[str, ...]


class TaskReport(Record):
    """All that validation says of one task."""

    task_id: str
    runnable: bool
    reasons: tuple[str, ...]
    """Why it cannot run here, or what is remarked."""
    why_not: tuple[str, ...] = ()
    """Of the reasons, those that keep it from running."""
    checkpoints: int | None = None
    weights_sum: float | None = None
    """As written."""
    caps: int | None = None
    needs_judge: bool | None = None
    null_score: Unit | None = None
    """None when it was not played."""
    solution_score: Unit | None = None
    solution_passes: bool | None = None
    shortcuts: Mapping[str, Unit | None] = {}
    mutants: tuple[MutantResult, ...] = ()
    problems: tuple[str, ...] = ()
    """What contradicts the rules; empty when all is as declared."""


class Report(NamedTuple):
    """Validation of a suite."""

    tasks: tuple[TaskReport, ...]
    native: bool
    findings: tuple[Finding, ...] = ()
    """Of the loader and the lints, over all tasks."""

    @property
    def ok(self) -> bool:
        """No task has a problem; native tasks must all be runnable."""
        return all(not t.problems and (t.runnable or not self.native) for t in self.tasks)

    def document(self) -> dict[str, JsonValue]:
        """`{ok, tasks: [...], lints: [...]}`."""
        return {
            "ok": self.ok,
            "tasks": [t.model_dump(mode="json") for t in self.tasks],
            "lints": [lint.model_dump(mode="json") for lint in self.lints],
        }

    @property
    def lints(self) -> tuple[Lint, ...]:
        """All remarks by kind, that of the null agent's score included."""
        null = (
            Finding(t.task_id, "warning", NULL_SCORE, f"the null agent scores {t.null_score:g}")
            for t in self.tasks
            if t.null_score
        )
        return lints((*null, *self.findings))

    def headline(self) -> str:
        """One sentence for the terminal."""
        runnable = sum(1 for t in self.tasks if t.runnable)
        broken = sum(1 for t in self.tasks if t.problems)
        return f"{len(self.tasks)} tasks, {runnable} runnable, {broken} with problems"


def validate_suite(suite: str, plan: Plan, *, notify: Callable[[str], None]) -> Report:
    """Load a suite, and play what can be played without a model.

    Raises:
        UserError: the suite itself cannot be loaded.
    """
    assets = Assets(default_roots(plan.assets))
    private = read_secrets(plan.privacy)
    loaded = load_suite(
        suite,
        assets=assets,
        tasks=plan.tasks,
        snapshot=plan.snapshot,
        credentials=private.names,
        placeholders=private.placeholders,
    )
    bench = Bench(assets=assets, kind=plan.environment, name=loaded.name)
    playable = [b for b in loaded.tasks if plan.play and b.runnable]
    if playable:
        bench.prepare([b for b in playable if _by_code(b)], notify)
    reports = asyncio.run(_all(loaded.tasks, plan, bench, notify))
    findings = (*loaded.findings, *(f for bundle in loaded.tasks for f in bundle.findings))
    return Report(tuple(reports), native=loaded.format == "native", findings=findings)


async def _all(
    bundles: Sequence[TaskBundle], plan: Plan, bench: Bench, notify: Callable[[str], None]
) -> list[TaskReport]:
    gate = asyncio.Semaphore(plan.parallel)

    async def one(bundle: TaskBundle) -> TaskReport:
        async with gate:
            report = await _report(bundle, plan, bench)
        if report.solution_score is not None or report.problems:
            notify(f"{report.task_id}: {'; '.join(report.problems) or 'ok'}")
        return report

    return list(await asyncio.gather(*(one(b) for b in bundles)))


def _solution(bundle: TaskBundle, plan: Plan) -> Path | None:
    if plan.solutions is not None and (plan.solutions / bundle.task_id).is_dir():
        return plan.solutions / bundle.task_id
    return bundle.solution


def _by_code(bundle: TaskBundle) -> bool:
    """Whether code decides every line, so that it can be played without a model."""
    try:
        return not model_lines(bundle.load_rubric().rubric)
    except UserError:
        return False


def _why_not(bundle: TaskBundle) -> tuple[str, ...]:
    return tuple(f"{f.code}: {f.message}" for f in bundle.findings if f.severity == "error")


async def _report(bundle: TaskBundle, plan: Plan, bench: Bench) -> TaskReport:
    reasons = tuple(f"{f.severity}: {f.code}: {f.message}" for f in bundle.findings)
    try:
        loaded = bundle.load_rubric()
    except UserError as error:
        return TaskReport(
            task_id=bundle.task_id,
            runnable=False,
            reasons=(*reasons, str(error)),
            why_not=_why_not(bundle) or (str(error),),
            problems=(str(error),) if bundle.findings == () else (),
        )
    rubric = loaded.rubric
    judged = bool(model_lines(rubric))
    report = TaskReport(
        task_id=bundle.task_id,
        runnable=bundle.runnable,
        reasons=reasons,
        why_not=_why_not(bundle),
        checkpoints=len(rubric.checkpoints),
        weights_sum=round(rubric.weights_sum, 9),
        caps=len(rubric.caps),
        needs_judge=judged,
    )
    solution = _solution(bundle, plan)
    if not plan.play or not bundle.runnable or judged:
        return report
    try:
        return await _play(bundle, loaded, solution, plan, bench, report)
    except UniclawError as error:
        return report.model_copy(update={"problems": (f"{type(error).__name__}: {error}",)})


async def _play(
    bundle: TaskBundle,
    loaded: LoadedRubric,
    solution: Path | None,
    plan: Plan,
    bench: Bench,
    report: TaskReport,
) -> TaskReport:
    problems: list[str] = []
    async with bench.seat(bundle, loaded, solution, repeat=plan.repeat) as seat:
        null = await seat.null()
        if (null.score or 0.0) > loaded.rubric.null_floor:
            problems.append(f"the null agent scores {null.score}")
        cheats: dict[str, float | None] = {}
        for name, make in SHORTCUTS.items():
            cheats[name] = (await seat.with_files(make(bundle, loaded.rubric))).score
            if (cheats[name] or 0.0) >= loaded.rubric.threshold:
                problems.append(f"the {name} agent scores {cheats[name]}")
        solved = None if solution is None else await seat.solve()
        mutants: list[MutantResult] = []
        if solved is not None:
            if not solved.passed:
                problems.append(f"the solution does not pass: {solved.score} ({solved.why})")
            for mutant in read_mutants(bundle.mutants):
                mutants.append(await _mutant(seat, mutant, solved))
            problems += _mutant_problems(bundle, loaded, mutants)
        problems += seat.unstable
    return report.model_copy(
        update={
            "null_score": null.score,
            "solution_score": solved.score if solved else None,
            "solution_passes": solved.passed if solved else None,
            "shortcuts": cheats,
            "mutants": tuple(mutants),
            "problems": tuple(problems),
        }
    )


def _mutant_problems(
    bundle: TaskBundle, loaded: LoadedRubric, mutants: Sequence[MutantResult]
) -> list[str]:
    problems = [
        f"mutant {m.file} {'loses more than its line' if m.lost else 'loses nothing'}:"
        f" {list(m.changed)}"
        for m in mutants
        if not (m.lost and m.exact)
    ]
    if bundle.mutants is not None:
        covered = {m.line for m in mutants}
        ids = [x.id for x in (*loaded.rubric.checkpoints, *loaded.rubric.caps)]
        problems += [f"no mutant for {i}" for i in ids if i not in covered]
    return problems


async def _mutant(seat: BenchSeat, mutant: Mutant, solved: Graded) -> MutantResult:
    """Play one mutant and compare it, line by line, with the solution."""
    broken = await seat.mutate(mutant)
    changed = tuple(sorted(k for k, v in broken.values.items() if v != solved.values.get(k)))
    lost = mutant.line in changed and broken.lost(mutant.line, solved)
    declared = {mutant.line, *mutant.also}
    return MutantResult(
        file=mutant.file,
        line=mutant.line,
        lost=lost,
        exact=set(changed) <= declared,
        changed=changed,
    )
