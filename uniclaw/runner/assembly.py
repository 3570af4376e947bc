"""Puts one episode's seat together from the run's workshop."""

import contextlib
import copy
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from uniclaw.assets import Assets
from uniclaw.environments.layers import layered
from uniclaw.episode.files import EpisodeFiles
from uniclaw.episode.provision import environment_spec
from uniclaw.episode.referee import Referee
from uniclaw.episode.seat import EpisodeSpec, Seat
from uniclaw.experiment import (
    NEUTRAL,
    REPEAT,
    ROUND_0,
    WITHOUT_MODEL,
    Planned,
    budget_of,
)
from uniclaw.firewall.auditor import Auditor
from uniclaw.firewall.canary import CanarySet
from uniclaw.firewall.policy import load_policy
from uniclaw.gateway.exchange import WireExchange
from uniclaw.harnesses import HarnessKind, harness_kind
from uniclaw.models.metering import MeteredModel, SpendLimits
from uniclaw.ports import EnvironmentFactory, Limits
from uniclaw.records import Language, NeutralId, RoleUsage, UserView
from uniclaw.runner.doors import OpenDoor
from uniclaw.runner.exchanges import Recorder, Sampling, WatchedModel
from uniclaw.runner.hidden_side import Fence, HiddenSide
from uniclaw.runner.judge_door import GraderJudge, none_in_replay
from uniclaw.runner.local import Assembled, key_of
from uniclaw.runner.record import Provenance
from uniclaw.runner.way_out import WayOut
from uniclaw.store.rows import add_spent
from uniclaw.store.run_store import RunStore
from uniclaw.suites import neutral_id, neutral_task
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.judge import Judge
from uniclaw.supervisor.judge_panel import Panel, shares_family
from uniclaw.supervisor.lines import judge_lines, rubric_lines
from uniclaw.supervisor.renditions import Renderer
from uniclaw.supervisor.supervise import Supervisor
from uniclaw.user_simulator import (
    ModelSimulator,
    NeutralSimulator,
    RepeatSimulator,
    SimulatorPrompts,
    Templates,
    TemplateSimulator,
    UserSimulator,
    neutral_message,
)
from uniclaw.user_simulator.prompts import load_tags

if TYPE_CHECKING:
    from uniclaw.runner.seats import Workshop

T = TypeVar("T")
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@dataclass
class Assembly:
    """Builds the parts of one seat in the order they need each other."""

    workshop: "Workshop"
    planned: Planned
    store: RunStore
    factory: EnvironmentFactory

    def __post_init__(self) -> None:
        """Everything that only looks things up."""
        self.bundle = self.planned.bundle
        self.axes = self.planned.axes
        # Assets are logged per episode, so that a record names what shaped it and nothing else.
        self.assets = Assets(self.workshop.assets.roots)
        self.task = neutral_task(self.bundle.task, self.workshop.salt)
        self.hidden = self._shared("hidden", lambda _: HiddenSide.load(self.bundle), *self._of_task)
        self.loaded = self.hidden.loaded
        harness, policy = self.axes.harness, self.axes.policy
        self.kind = self._shared("harness", lambda a: harness_kind(harness, a), harness)
        self.policy = self._shared("policy", lambda a: load_policy(policy, a), policy)
        self.budget = budget_of(self.workshop.settings, self.bundle.task, self.axes)
        self.spent: dict[str, Callable[[], RoleUsage]] = {}
        self.models: list[MeteredModel] = []
        labels = self.hidden.labels
        self.canaries = CanarySet.create(labels)
        self.origin = self.workshop.origin_of(self.planned)
        if self.origin is not None and set(self.origin.boundary.markers) == set(labels):
            # Recorded verdicts may quote the marks of the episode that is continued.
            self.canaries = CanarySet(markers=self.origin.boundary.markers)
        self.secrets = self.workshop.secrets.only(self.bundle.variables)
        private = {f"private:{name}": value for name, value in self.secrets.values.items()}
        drawn = {**self.canaries.markers, **private}
        self.recorder = Recorder(
            self.store,
            self.planned.attempt_id,
            self.planned.attempt,
            drawn,
            self.secrets.redact,
        )
        self.through = self.workshop.answers(self.planned, self.recorder, drawn)
        # The same in a replay, which has the salt of its parent and another name.
        key = f"{self.workshop.salt}\0{'|'.join(map(str, key_of(self.planned)))}"
        self.neutral_episode: NeutralId = neutral_id(key, "episode")

    @property
    def _of_task(self) -> tuple[Hashable, ...]:
        """What tells apart the tasks of a run; added skills make another of each."""
        return self.bundle.task_id, self.axes.skills

    def _shared(self, kind: str, make: Callable[[Assets], T], *depends: Hashable) -> T:
        return self.workshop.shelf.take((kind, *depends), make, self.assets)

    async def build(self) -> Assembled:
        """The seat, its provenance, and what closes the rest."""
        opened = await self._door()
        way = await self.workshop.ways_out.open(
            self.bundle.task,
            opened.socket_dir if opened else None,
            lambda data: self.store.put_blob(self.secrets.redact_bytes(data)),
            self._look,
        )
        executor = None if opened else self._executor_model()
        judge = self._grader_judge()
        grader = Grader(
            factory=self.factory,
            image=self.task.environment,
            labels=self._labels("grader"),
            open_judge=none_in_replay if self.workshop.recording else judge and judge.open,
        )
        seat = Seat(
            spec=self._spec(opened, way),
            files=EpisodeFiles(self.store.episode_dir(self.planned.attempt_id)),
            assets=self.assets,
            factory=self.factory,
            harness_kind=self.kind,
            executor_model=executor,
            solution=self.workshop.solution_of(self.bundle),
            door=opened.door if opened else None,
            supervisor=self._supervisor(grader),
            referee=self._referee(),
            simulator=self._simulator(),
            spent=self.spent,
            proxy=way.proxy if way else None,
            renderer=self._renderer(),
            origin=self.origin,
        )
        self._watch = seat.watch

        async def close() -> None:
            async with contextlib.AsyncExitStack() as stack:
                if judge:
                    stack.push_async_callback(judge.close)
                stack.push_async_callback(grader.close)
                if opened:
                    stack.push_async_callback(opened.close)
                if way:
                    stack.push_async_callback(way.close)
                for model in self.models:
                    stack.push_async_callback(model.close)

        return Assembled(seat, self._provenance(), close)

    def _labels(self, role: str) -> dict[str, str]:
        return {"uniclaw.episode": self.planned.attempt_id, "uniclaw.role": role}

    async def _door(self) -> OpenDoor | None:
        """The way to the model, for a harness that calls it from inside."""
        if self.kind.layer is None or self.axes.model is None:
            return None
        stored = self.workshop.stored_wires(self.planned)

        def hear(exchange: WireExchange) -> None:
            self.recorder.record_wire(exchange, reused=stored.gave(exchange))

        opened = await self.workshop.doors.open(
            self.planned.attempt_id,
            self.axes.model,
            self._allowed(),
            hear,
            self._look,
            recorded=stored.recorded,
            earlier=stored.earlier,
        )
        self.spent["executor"] = opened.spent
        return opened._replace(door=opened.door._replace(effort=self.axes.effort))

    def _allowed(self) -> SpendLimits:
        """What the executor may still spend: a fork has its parent's spending behind it."""
        limits = SpendLimits.of(self.budget)
        return limits if self.origin is None else limits.less(self.origin.spent())

    def _grader_judge(self) -> GraderJudge | None:
        """For a grader that asks its model by itself: the first of the panel."""
        names = self.workshop.judge_names(self.axes.supervisor)
        if self.loaded.program is None or not names:
            return None
        return GraderJudge(
            self.workshop.doors,
            self.planned.attempt_id,
            names[0],
            self.recorder.record_wire,
            self.spent,
        )

    def _limits(self) -> Limits:
        settings = self.workshop.settings
        memory = settings.memory_bytes
        if memory is not None:
            memory += self.kind.memory_bytes
        return Limits(memory_bytes=memory, cpus=settings.cpus, pids=settings.pids)

    def _spec(self, opened: OpenDoor | None, way: WayOut | None) -> EpisodeSpec:
        settings = self.workshop.settings
        return EpisodeSpec(
            run=self.workshop.run,
            episode_id=self.planned.attempt_id,
            bundle=self.bundle,
            task=self.task,
            axes=self.axes,
            trial=self.planned.trial,
            seed=self.planned.seed,
            attempt=self.planned.attempt,
            budget=self.budget,
            environment=environment_spec(
                self.task,
                limits=self._limits(),
                labels=self._labels("executor"),
                image=image_of(self.task.environment, self.kind),
                env={**self.bundle.env, **self.secrets.values},
                door=opened.socket_dir if opened else way.socket_dir if way else None,
                proxy=way is not None,
            ),
            environment_kind=settings.environment,
            secrets=self.secrets,
            questions_free=settings.questions_free,
            snapshots=settings.snapshots or self.axes.user_simulator == ROUND_0,
            last_round=0 if self.axes.user_simulator == ROUND_0 else None,
        )

    def _metered(self, spec: str, role: str, limits: SpendLimits) -> MeteredModel:
        model = self.workshop.model(spec, self.recorder.observer(role), limits, self.through)
        self.models.append(model)
        earlier = self.spent.get(role)
        self.spent[role] = model.spent if earlier is None else both(earlier, model.spent)
        return model

    def _executor_model(self) -> WatchedModel | None:
        if self.axes.model is None:
            return None
        model = self._metered(self.axes.model, "executor", self._allowed())
        sampling = Sampling(self.axes.temperature, self.axes.top_p, self.axes.effort)
        return WatchedModel(model, "executor", self._look, sampling=sampling)

    def _look(self, where: str, text: str) -> None:
        self._watch(where, text)

    def _renderer(self) -> Renderer | None:
        """Where a model will look at what is left."""
        judged = judge_lines(rubric_lines(self.loaded.rubric))
        looking = bool(judged) or self.axes.user_simulator not in WITHOUT_MODEL
        return Renderer(self.factory, self._labels("renderer")) if looking else None

    def _supervisor(self, grader: Grader) -> Supervisor:
        judged = judge_lines(rubric_lines(self.loaded.rubric))
        judges = [
            Judge(
                self._metered(name, "judge", SpendLimits()),
                self.assets,
                references=self.hidden.references,
                mark=self.canaries.mark,
            )
            for name in self.workshop.judge_names(self.axes.supervisor)
            if judged
        ]
        return Supervisor(
            loaded=self.loaded,
            bundle_sources=self.bundle.sources,
            grader=grader,
            judge=Panel(judges, votes=self.workshop.settings.votes) if judges else None,
        )

    def _referee(self) -> Referee:
        brief, language, key = self.bundle.brief, self.task.language, self.planned.seed
        templates = self._templates(language)

        def neutral_text(view: UserView) -> str:
            return neutral_message(
                templates,
                language,
                asked=view.asked,
                brief=brief,
                question=view.rounds[-1].final_message,
                key=key,
            )

        fence = self._shared(
            "fence",
            lambda _: Fence.build(self.loaded, self.bundle, self.policy),
            *self._of_task,
            self.axes.policy,
        )
        persona = self._shared(
            "persona",
            lambda a: self.workshop.persona(self.bundle, self.axes, a),
            *self._of_task,
            self.axes.persona,
        )
        return Referee(
            policy=self.policy,
            # A copy: the index is shared, what a screen remembers of its episode is not.
            screen=copy.copy(fence.screen),
            canaries=self.canaries,
            persona=persona,
            brief=brief,
            task=self.task,
            episode_id=self.neutral_episode,
            source="template" if self.axes.user_simulator in WITHOUT_MODEL else "model",
            neutral_text=neutral_text,
            material=fence.material,
            auditor=self._auditor(),
        )

    def _auditor(self) -> Auditor | None:
        spec = self.workshop.settings.auditor
        if spec is None or self.axes.user_simulator in WITHOUT_MODEL:
            return None
        return Auditor(self._metered(spec, "auditor", SpendLimits()), self.assets)

    def _simulator(self) -> UserSimulator:
        if self.axes.user_simulator == REPEAT:
            return RepeatSimulator()
        if self.axes.user_simulator in {NEUTRAL, ROUND_0}:
            return NeutralSimulator(self._templates(self.task.language), self.planned.seed)
        if self.axes.user_simulator in WITHOUT_MODEL:
            return TemplateSimulator(
                {language: self._templates(language) for language in LANGUAGES},
                seed=self.planned.seed,
                tags=self._shared("tags", load_tags),
            )
        model = self._metered(self.axes.user_simulator, "user_simulator", SpendLimits())
        watched = WatchedModel(model, "user simulator", self._look)
        prompts = self._shared("prompts", SimulatorPrompts.load)
        return ModelSimulator(watched, prompts, seed=self.planned.seed)

    def _templates(self, language: Language) -> Templates:
        return self._shared("templates", lambda a: Templates.load(language, a), language)

    def _provenance(self) -> Provenance:
        return Provenance(
            images=dict(self.workshop.images),
            rubric_source=self.loaded.source,
            rubric_sha256=self.hidden.sha256,
            neutral_episode_id=self.neutral_episode,
            parent=self._parent(),
            parent_round=self.origin.round if self.origin else None,
            flags=self._family_flags(),
        )

    def _parent(self) -> str | None:
        if self.origin is not None:
            return self.origin.name
        return self.workshop.parent(self.planned) if self.workshop.parent else None

    def _family_flags(self) -> tuple[str, ...]:
        """Remarks where the judge or the simulator is of the executor's model family."""
        if self.axes.model is None:
            return ()
        roles = [("judge", name) for name in self.workshop.judge_names(self.axes.supervisor)]
        roles.append(("user_simulator", self.axes.user_simulator))
        return tuple(
            f"same-family:{role}"
            for role, name in roles
            if "/" in name and shares_family(name, self.axes.model)
        )


def both(
    first: Callable[[], RoleUsage], second: Callable[[], RoleUsage]
) -> Callable[[], RoleUsage]:
    """What two models of one role spent."""
    return lambda: add_spent(first(), second())


def image_of(environment: str, kind: HarnessKind) -> str:
    """The image that an executor of this kind plays in."""
    return environment if kind.layer is None else layered(environment, kind.layer)
