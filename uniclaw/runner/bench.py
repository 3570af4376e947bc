"""A bench for simple agents: one environment a task, set back between attempts, no graph.

Used by `validate`; grades with the same supervisor as an episode does.
"""

import contextlib
import shutil
import tempfile
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from uniclaw.assets import Assets
from uniclaw.environments import EnvironmentKind, create_factory, ensure_images
from uniclaw.environments.services import Services
from uniclaw.environments.stage import Stage
from uniclaw.episode.provision import bring_in, environment_spec
from uniclaw.errors import InfraError, UserError
from uniclaw.harnesses.null import NullHarness
from uniclaw.harnesses.oracle import OracleHarness
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.hidden.verdict import Verdict
from uniclaw.ports import (
    Environment,
    EnvironmentFactory,
    FreezeLimits,
    HarnessContext,
    Limits,
    TurnLimits,
)
from uniclaw.records import Decision, Manifest, Turn
from uniclaw.runner.shortcuts import Mutant, mutate_probes, mutate_turns
from uniclaw.suites.bundle import TaskBundle
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.supervise import Supervisor
from uniclaw.trajectory import Evidence

FULL_SOLUTION = "full.sh"
"""Played instead of the staged rounds where it exists."""
_COPY = '"$HOME/.uniclaw-bench'
_STEP_S = 300.0


class Graded(NamedTuple):
    """One graded attempt."""

    score: float | None
    passed: bool
    values: Mapping[str, float | None]
    """Line id -> value; caps included."""
    fired: frozenset[str]
    caps: frozenset[str]
    why: str

    def lost(self, line: str, solved: "Graded") -> bool:
        """Whether a line is worse here: a cap that fires, or a checkpoint of less value."""
        if line in self.caps:
            return line in self.fired and line not in solved.fired
        here, there = self.values.get(line), solved.values.get(line)
        return here is not None and there is not None and here < there


def _graded(verdict: Verdict) -> Graded:
    return Graded(
        score=verdict.score,
        passed=verdict.decision is Decision.PASS,
        values={line.id: line.result.value for line in verdict.lines},
        fired=frozenset(line.id for line in verdict.lines if line.fired),
        caps=frozenset(line.id for line in verdict.lines if line.kind == "cap"),
        why=verdict.rationale,
    )


@dataclass
class Bench:
    """What the seats of one validation share."""

    assets: Assets
    kind: EnvironmentKind
    name: str
    factory: EnvironmentFactory | None = None

    def prepare(self, bundles: Sequence[TaskBundle], notify: Callable[[str], None]) -> None:
        """Build the images that the bundles need, and make the factory."""
        if self.kind == "docker":
            images = {b.task.environment for b in bundles}
            images |= {spec.image for b in bundles for spec in b.sidecars}
            ensure_images(sorted(images), self.assets, notify)
        self.factory = create_factory(self.kind, assets=self.assets, run=f"validate-{self.name}")

    @asynccontextmanager
    async def seat(
        self, bundle: TaskBundle, loaded: LoadedRubric, solution: Path | None, *, repeat: int
    ) -> AsyncGenerator["BenchSeat"]:
        """Start a task's environment; everything is gone when the context ends."""
        if self.factory is None:
            raise InfraError("the bench was not prepared")
        if loaded.program is not None and self.kind != "docker":
            raise UserError(
                "its grader has fixed paths and runs in docker alone",
                field="environment",
                value=self.kind,
            )
        labels = {"uniclaw.role": "validate"}
        spec = environment_spec(bundle.task, limits=Limits(), labels=labels)
        grader = Grader(
            factory=self.factory, image=bundle.task.environment, labels={"uniclaw.role": "grader"}
        )
        async with contextlib.AsyncExitStack() as stack:
            work = Path(tempfile.mkdtemp(prefix="uniclaw-validate-"))
            stack.callback(shutil.rmtree, work, ignore_errors=True)
            environment = await self.factory.start(spec)
            stack.push_async_callback(environment.close)
            stack.push_async_callback(grader.close)
            services = Services(self.factory, bundle.sidecars, labels)
            stack.push_async_callback(services.close)
            await services.start(environment)
            await bring_in(environment, bundle)
            supervisor = Supervisor(
                loaded=loaded, bundle_sources=bundle.sources, grader=grader, judge=None
            )
            baseline = await environment.freeze(
                bundle.task.artifact_roots, work / "baseline", FreezeLimits(), baseline=None
            )
            seat = BenchSeat(
                bundle=bundle,
                environment=environment,
                services=services,
                supervisor=supervisor,
                baseline=baseline,
                solution=solution,
                work=work,
                repeat=repeat,
                assets=self.assets,
            )
            await seat.keep("fresh")
            yield seat


@dataclass(kw_only=True)
class BenchSeat:
    """One task on the bench."""

    bundle: TaskBundle
    environment: Environment
    services: Services
    supervisor: Supervisor
    baseline: Manifest
    solution: Path | None
    work: Path
    repeat: int
    assets: Assets
    unstable: list[str] = field(default_factory=list[str])
    """Lines whose value changed when the same attempt was graded again."""
    _attempt: int = 0
    _turns: tuple[Turn, ...] = ()

    async def _shell(self, script: str) -> None:
        result = await self.environment.exec(
            ["bash", "-s"],
            stdin=script.encode(),
            cwd=self.bundle.task.workspace,
            timeout_s=_STEP_S,
        )
        if result.exit_code != 0:
            said = (result.stdout + result.stderr).decode("utf-8", "replace")[-1000:]
            raise InfraError(f"bench script ended with {result.exit_code}: {said}")

    async def keep(self, name: str) -> None:
        """Remember the workspace and the services' state under a name."""
        await self._shell(f'rm -rf {_COPY}-{name}"; cp -a . {_COPY}-{name}"\n')
        await self.services.keep(name)

    async def back_to(self, name: str) -> None:
        """Set the workspace and the services back."""
        await self._shell(f'find . -mindepth 1 -delete; cp -a {_COPY}-{name}"/. .\n')
        await self.services.back_to(name)

    def _context(self, solution: Path | None) -> HarnessContext:
        return HarnessContext(
            environment=self.environment,
            task=self.bundle.task,
            model=None,
            seed=0,
            solution=solution,
        )

    async def null(self) -> Graded:
        """The agent that does nothing."""
        await self.services.begin_round(0)
        harness = NullHarness(self._context(None), self.assets)
        turn = await harness.turn(self.bundle.task.instruction, TurnLimits())
        return await self._grade((turn,))

    async def with_files(self, files: Mapping[str, bytes]) -> Graded:
        """An agent that writes files without working."""
        await self.back_to("fresh")
        await self.services.begin_round(0)
        await self.environment.put(files)
        harness = NullHarness(self._context(None), self.assets)
        turn = await harness.turn(self.bundle.task.instruction, TurnLimits())
        return await self._grade((turn,))

    async def _revive(self) -> None:
        """Grading an attempt ends the recipe's session, such as a display."""
        if isinstance(self.environment, Stage) and (problem := await self.environment.revive()):
            raise InfraError(problem)

    async def solve(self) -> Graded:
        """The reference solution, all of its rounds."""
        directory = self.solution
        if directory is None:
            raise InfraError("there is no solution to play")
        await self.back_to("fresh")
        if (directory / FULL_SOLUTION).is_file():
            staged = self.work / "solution"
            staged.mkdir()
            shutil.copy(directory / FULL_SOLUTION, staged / "round-0.sh")
            directory = staged
        rounds = len(list(directory.glob("round-*.sh")))
        harness = OracleHarness(self._context(directory), self.assets)
        turns: list[Turn] = []
        for number in range(rounds):
            await self.services.begin_round(number)
            await self._revive()
            message = self.bundle.task.instruction if number == 0 else "Please go on."
            turns.append(await harness.turn(message, TurnLimits()))
        self._turns = tuple(turns)
        graded = await self._grade(self._turns)
        await self.keep("solved")
        return graded

    async def mutate(self, mutant: Mutant) -> Graded:
        """The solved workspace with one thing broken."""
        await self.back_to("solved")
        await self.services.begin_round(len(self._turns) - 1)
        await self._shell(mutant.script)
        return await self._grade(mutate_turns(self._turns, mutant), mutant)

    async def _grade(self, turns: tuple[Turn, ...], mutant: Mutant | None = None) -> Graded:
        task = self.bundle.task
        number, self._attempt = self._attempt, self._attempt + 1
        await self.environment.kill_all()
        probes = [await self.environment.probe(p.id, p.run) for p in task.probes]
        services = await self.services.results()
        if mutant is not None:
            services = mutate_probes(services, mutant)
        root = self.work / f"evidence-{number}"
        manifest = await self.environment.freeze(
            task.artifact_roots, root, FreezeLimits(), baseline=self.baseline
        )
        evidence = Evidence(
            round=len(turns) - 1,
            task=task,
            files_root=root,
            manifest=manifest,
            turns=turns,
            probes=(*probes, *services),
        )
        first = _graded(await self.supervisor.supervise(evidence, rounds_left=0))
        for _ in range(self.repeat - 1):
            again = _graded(await self.supervisor.supervise(evidence, rounds_left=0))
            if again.values != first.values:
                changed = sorted(k for k, v in again.values.items() if first.values[k] != v)
                self.unstable.append(f"graded twice, lines {changed} differ (attempt {number})")
        return first
