"""Everything live of one episode: the handles its nodes work with, and its clocks.

The graph's state names an episode by id; nodes find the seat by that id. Role nodes get
only their part of it (see `nodes`).
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from uniclaw.assets import Assets
from uniclaw.environments.services import Services
from uniclaw.episode.boundary import Origin
from uniclaw.episode.files import EpisodeFiles
from uniclaw.episode.referee import Referee
from uniclaw.errors import FirewallBreach, InfraError
from uniclaw.gateway.proxy.proxy import RecordingProxy
from uniclaw.harnesses import HarnessKind
from uniclaw.hidden.verdict import Verdict
from uniclaw.ports import (
    ChatModel,
    Environment,
    EnvironmentFactory,
    EnvironmentSpec,
    FreezeLimits,
    Harness,
    HarnessContext,
    ModelDoor,
    TurnLimits,
)
from uniclaw.records import Budget, EpisodeId, Manifest, RoleUsage, StopReason, Task, Turn
from uniclaw.store.records import Axes
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.privacy import Secrets
from uniclaw.supervisor.renditions import Renderer
from uniclaw.trajectory import Evidence
from uniclaw.user_simulator import UserSimulator

MAX_FREE_QUESTIONS = 5
"""Where questions use no feedback round, an agent that only asks still comes to an end."""


class SupervisorPort(Protocol):
    """The hidden supervisor as an episode sees it."""

    async def supervise(self, evidence: Evidence, *, rounds_left: int) -> Verdict:
        """Score one round."""
        ...


@dataclass(frozen=True, kw_only=True)
class EpisodeSpec:
    """What to play."""

    run: str
    episode_id: EpisodeId
    bundle: TaskBundle
    task: Task
    """The neutral task: ids without meaning. What roles see."""
    axes: Axes
    trial: int
    seed: int
    attempt: int
    budget: Budget
    environment: EnvironmentSpec
    environment_kind: str
    secrets: Secrets = field(default_factory=Secrets)
    """Private variables of the environment; their values stand in no record."""
    questions_free: bool = False
    """A turn that ends in a question uses no feedback round."""
    snapshots: bool = False
    """Keep the state at every round boundary, so that a fork can go on from it."""
    last_round: int | None = None
    """Stop after this round, as a state that other episodes continue from."""


@dataclass(kw_only=True)
class Seat:
    """One episode being played."""

    spec: EpisodeSpec
    files: EpisodeFiles
    assets: Assets
    factory: EnvironmentFactory
    harness_kind: HarnessKind
    executor_model: ChatModel | None
    solution: Path | None
    door: ModelDoor | None = None
    """For harnesses that call the model from inside."""
    supervisor: SupervisorPort
    referee: Referee
    simulator: UserSimulator
    spent: Mapping[str, Callable[[], RoleUsage]]
    """Role -> what it spent so far."""
    freeze_limits: FreezeLimits = field(default_factory=FreezeLimits)
    closers: Sequence[Callable[[], object]] = ()
    clock: Callable[[], float] = time.monotonic
    on_phase: Callable[[str, int], None] = lambda phase, round_number: None
    environment: Environment | None = None
    container: str | None = None
    """Name of the environment, kept after it is gone."""
    renderer: Renderer | None = None
    """Makes documents visible; None where nobody will look."""
    proxy: RecordingProxy | None = None
    """The way out of a task that asks for a network."""
    services: Services | None = None
    """Background services beside the environment."""
    harness: Harness | None = None
    origin: Origin | None = None
    """For a fork: what it continues."""
    baseline: Manifest | None = None
    seconds: dict[int, dict[str, float]] = field(default_factory=dict[int, dict[str, float]])
    """Round -> phase -> wall seconds; set-up and tear-down stand under round -1."""
    began: dict[tuple[str, int], float] = field(default_factory=dict[tuple[str, int], float])
    """Phase and round -> when it began, by the clock."""

    @contextmanager
    def phase(self, name: str, round_number: int = -1) -> Generator[None]:
        """Measure a phase by the monotonic clock."""
        self.on_phase(name, round_number)
        start = self.began[name, round_number] = self.clock()
        try:
            yield
        finally:
            phases = self.seconds.setdefault(round_number, {})
            phases[name] = phases.get(name, 0.0) + max(0.0, self.clock() - start)

    def seconds_so_far(self, name: str, round_number: int) -> float:
        """Seconds a phase has taken until now, also while it lasts."""
        started = self.began.get((name, round_number))
        return 0.0 if started is None else max(0.0, self.clock() - started)

    def need_environment(self) -> Environment:
        """The live environment; after a crash there is none, and the attempt starts anew."""
        if self.environment is None:
            raise InfraError("the environment of this attempt is gone")
        return self.environment

    def need_services(self) -> Services:
        """The services of this attempt; they start with the environment."""
        if self.services is None:
            raise InfraError("the services of this attempt are gone")
        return self.services

    def need_harness(self) -> Harness:
        """The open harness."""
        if self.harness is None:
            raise InfraError("the harness session of this attempt is gone")
        return self.harness

    async def open_harness(self, environment: Environment) -> Harness:
        """Create and open the harness on a live environment."""
        context = HarnessContext(
            environment=environment,
            task=self.spec.task,
            model=self.executor_model,
            seed=self.spec.seed,
            solution=self.solution,
            door=self.door,
            round_offset=self.origin.round + 1 if self.origin else 0,
            session=self.origin.boundary.session if self.origin else None,
            keep_picture=self.files.keep_picture,
        )
        harness = self.harness_kind.create(context, self.assets)
        await harness.open()
        return harness

    def turns(self, up_to: int) -> tuple[Turn, ...]:
        """Turns of rounds 0..`up_to` as stored."""
        return tuple(self.files.load(self.files.ref(n, "turn"), Turn) for n in range(up_to + 1))

    def turn_limits(self, done: Sequence[Turn]) -> TurnLimits:
        """What the next turn may still spend."""
        budget = self.spec.budget
        seconds = [budget.turn_s] if budget.turn_s is not None else []
        if budget.executor_s is not None:
            seconds.append(max(0.0, budget.executor_s - sum(t.executor_s for t in done)))
        return TurnLimits(seconds=min(seconds) if seconds else None)

    def used_up(self, done: Sequence[Turn]) -> StopReason | None:
        """Whether a further turn is ruled out by a budget, and by which kind."""
        last = done[-1]
        if last.stop is StopReason.RESOURCES and last.budget is not None:
            return StopReason.RESOURCES
        if last.stop is StopReason.BUDGET and last.budget != "turn_calls":
            return StopReason.BUDGET
        limits = self.turn_limits(done)
        if limits.seconds is not None and limits.seconds <= 0:
            return StopReason.TIMEOUT
        return None

    def rounds_left(self, round_number: int, done: Sequence[Turn]) -> int:
        """Feedback rounds that can still be played after `round_number`."""
        if self.used_up(done) is not None:
            return 0
        asked = sum(1 for turn in done if turn.stop is StopReason.ASKED)
        free = min(asked, MAX_FREE_QUESTIONS) if self.spec.questions_free else 0
        return max(0, self.spec.budget.feedback_rounds + free - round_number)

    def watch(self, where: str, text: str | bytes) -> None:
        """Look for canaries in something that leaves the supervisor's side.

        Raises:
            FirewallBreach: one is there; the message names the path it took.
        """
        found = self.referee.canary_hits(text)
        if found:
            raise FirewallBreach(f"{where} holds the canary of {', '.join(found)}")
