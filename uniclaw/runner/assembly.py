"""Puts one episode's seat together from the run's workshop."""

import contextlib
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from uniclaw.assets import Assets, tree_hash
from uniclaw.environments.layers import layered
from uniclaw.episode.files import EpisodeFiles
from uniclaw.episode.provision import environment_spec
from uniclaw.episode.referee import Referee
from uniclaw.episode.seat import EpisodeSpec, Seat
from uniclaw.experiment import Planned, budget_of
from uniclaw.firewall.canary import CanarySet
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.policy import load_policy
from uniclaw.firewall.public import public_texts
from uniclaw.firewall.screening import Screen
from uniclaw.harnesses import HarnessKind, harness_kind
from uniclaw.hidden.references import References
from uniclaw.hidden.rubric import LoadedRubric
from uniclaw.models.metering import MeteredModel, SpendLimits
from uniclaw.ports import EnvironmentFactory, Limits
from uniclaw.records import NeutralId, RoleUsage, UserView
from uniclaw.runner.doors import OpenDoor
from uniclaw.runner.exchanges import Recorder, WatchedModel
from uniclaw.runner.local import Assembled, key_of
from uniclaw.runner.record import Provenance
from uniclaw.store.rows import add_spent
from uniclaw.store.run_store import RunStore
from uniclaw.suites import neutral_id, neutral_task
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.judge import Judge
from uniclaw.supervisor.judge_panel import Panel, shares_family
from uniclaw.supervisor.lines import judge_lines, rubric_lines
from uniclaw.supervisor.supervise import Supervisor
from uniclaw.user_simulator import (
    ModelSimulator,
    SimulatorPrompts,
    Templates,
    TemplateSimulator,
    UserSimulator,
    neutral_message,
)

if TYPE_CHECKING:
    from uniclaw.runner.seats import Workshop

TEMPLATE = "template"
REFERENCE_BYTES = 2_000_000
"""Of one reference file, what a judge may be shown."""


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
        self.loaded = self.bundle.load_rubric()
        self.kind = harness_kind(self.axes.harness, self.assets)
        self.policy = load_policy(self.axes.policy, self.assets)
        self.budget = budget_of(self.workshop.settings, self.bundle.task, self.axes)
        self.spent: dict[str, Callable[[], RoleUsage]] = {}
        self.models: list[MeteredModel] = []
        labels = hidden_labels(self.loaded)
        self.canaries = CanarySet.create(labels)
        drawn = self.canaries.markers
        self.recorder = Recorder(self.store, self.planned.attempt_id, self.planned.attempt, drawn)
        self.through = self.workshop.answers(self.planned, self.recorder, drawn)
        # The same in a replay, which has the salt of its parent and another name.
        key = f"{self.workshop.salt}\0{'|'.join(map(str, key_of(self.planned)))}"
        self.neutral_episode: NeutralId = neutral_id(key, "episode")

    async def build(self) -> Assembled:
        """The seat, its provenance, and what closes the rest."""
        opened = await self._door()
        executor = None if opened else self._executor_model()
        grader = Grader(
            factory=self.factory, image=self.task.environment, labels=self._labels("grader")
        )
        seat = Seat(
            spec=self._spec(opened),
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
        )
        self._watch = seat.watch

        async def close() -> None:
            async with contextlib.AsyncExitStack() as stack:
                stack.push_async_callback(grader.close)
                if opened:
                    stack.push_async_callback(opened.close)
                for model in self.models:
                    stack.push_async_callback(model.close)

        return Assembled(seat, self._provenance(), close)

    def _labels(self, role: str) -> dict[str, str]:
        return {"uniclaw.episode": self.planned.attempt_id, "uniclaw.role": role}

    async def _door(self) -> OpenDoor | None:
        """The way to the model, for a harness that calls it from inside."""
        if self.kind.layer is None or self.axes.model is None:
            return None
        opened = await self.workshop.doors.open(
            self.planned.attempt_id,
            self.axes.model,
            SpendLimits.of(self.budget),
            self.recorder.record_wire,
            self._look,
        )
        self.spent["executor"] = opened.spent
        return opened

    def _limits(self) -> Limits:
        settings = self.workshop.settings
        memory = settings.memory_bytes
        if memory is not None:
            memory += self.kind.memory_bytes
        return Limits(memory_bytes=memory, cpus=settings.cpus, pids=settings.pids)

    def _spec(self, opened: OpenDoor | None) -> EpisodeSpec:
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
                door=opened.socket_dir if opened else None,
            ),
            environment_kind=settings.environment,
            questions_free=settings.questions_free,
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
        model = self._metered(self.axes.model, "executor", SpendLimits.of(self.budget))
        return WatchedModel(model, "executor", self._look, temperature=self.axes.temperature)

    def _look(self, where: str, text: str) -> None:
        self._watch(where, text)

    def _supervisor(self, grader: Grader) -> Supervisor:
        judged = judge_lines(rubric_lines(self.loaded.rubric))
        judges = [
            Judge(
                self._metered(name, "judge", SpendLimits()),
                self.assets,
                references=reference_texts(self.loaded),
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
        templates = Templates.load(self.task.language, self.assets)
        brief, language, key = self.bundle.brief, self.task.language, self.planned.seed

        def neutral_text(view: UserView) -> str:
            return neutral_message(
                templates,
                language,
                asked=view.asked,
                brief=brief,
                question=view.rounds[-1].final_message,
                key=key,
            )

        return Referee(
            policy=self.policy,
            screen=Screen(
                HiddenMaterial.of(self.loaded, self.policy),
                public=public_texts(self.bundle),
                brief=brief,
                policy=self.policy,
            ),
            canaries=self.canaries,
            persona=self.workshop.persona(self.bundle, self.axes, self.assets),
            brief=brief,
            task=self.task,
            episode_id=self.neutral_episode,
            source="template" if self.axes.user_simulator == TEMPLATE else "model",
            neutral_text=neutral_text,
        )

    def _simulator(self) -> UserSimulator:
        if self.axes.user_simulator == TEMPLATE:
            return TemplateSimulator.load(self.assets, seed=self.planned.seed)
        model = self._metered(self.axes.user_simulator, "user_simulator", SpendLimits())
        watched = WatchedModel(model, "user simulator", self._look)
        prompts = SimulatorPrompts.load(self.assets)
        return ModelSimulator(watched, prompts, seed=self.planned.seed)

    def _provenance(self) -> Provenance:
        return Provenance(
            images=dict(self.workshop.images),
            rubric_source=self.loaded.source,
            rubric_sha256=rubric_hash(self.loaded),
            neutral_episode_id=self.neutral_episode,
            parent=self.workshop.parent(self.planned) if self.workshop.parent else None,
            flags=self._family_flags(),
        )

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


def reference_texts(loaded: LoadedRubric) -> dict[str, str]:
    """Hidden texts for a judge: imported rules and every reference file that is text."""
    texts = {f"rule-{i}": text for i, text in enumerate(loaded.raw_texts)}
    for name, path in References.of(loaded).files(loaded.rubric).items():
        data = path.read_bytes()[:REFERENCE_BYTES]
        if b"\0" not in data[:8192]:
            texts[name] = data.decode("utf-8", "replace")
    return texts


def image_of(environment: str, kind: HarnessKind) -> str:
    """The image that an executor of this kind plays in."""
    return environment if kind.layer is None else layered(environment, kind.layer)


def hidden_labels(loaded: LoadedRubric) -> tuple[str, ...]:
    """Labels of the hidden texts that a judge may be handed: one canary each."""
    criteria = [f"criterion:{line.id}" for line in judge_lines(rubric_lines(loaded.rubric))]
    references = [f"reference:{name}" for name in reference_texts(loaded)]
    return tuple(dict.fromkeys([*criteria, *references]))


def rubric_hash(loaded: LoadedRubric) -> str:
    """SHA-256 over the rubric as parsed, its check code and its references."""
    digest = hashlib.sha256(loaded.rubric.model_dump_json().encode())
    code = loaded.root / "checks.py"
    if code.is_file():
        digest.update(code.read_bytes())
    for name in loaded.rubric.references:
        path = loaded.reference_root / name
        if path.exists():
            digest.update(f"{name}\0{tree_hash(path)}\0".encode())
    return digest.hexdigest()
