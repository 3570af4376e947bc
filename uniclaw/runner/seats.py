"""The workshop of a run: what its episodes share, and how a seat is put together from it."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from uniclaw.assets import Assets
from uniclaw.config import RunSettings
from uniclaw.environments import create_factory
from uniclaw.environments.images import Images
from uniclaw.environments.network import RELAY
from uniclaw.episode.boundary import Origin
from uniclaw.errors import UserError
from uniclaw.experiment import WITHOUT_MODEL, Planned, cells
from uniclaw.firewall.explain import explain
from uniclaw.firewall.policy import load_policy
from uniclaw.harnesses import harness_kind
from uniclaw.models import create_bare_model
from uniclaw.models.cassette import Tape
from uniclaw.models.concurrency import Gate, GatedModel
from uniclaw.models.metering import ExchangeObserver, MeteredModel, SpendLimits
from uniclaw.models.settings import ModelSettings
from uniclaw.ports import ChatModel, EnvironmentFactory
from uniclaw.pricing import ModelPrice, PriceTable
from uniclaw.runner.assembly import Assembly, image_of
from uniclaw.runner.cassettes import Cassettes, is_cassette
from uniclaw.runner.doors import Doors
from uniclaw.runner.exchanges import Recorder
from uniclaw.runner.local import Assembled
from uniclaw.runner.origins import nested_origin
from uniclaw.runner.recall import Through, earlier_answers, earlier_wires, only, taped
from uniclaw.runner.shelf import Shelf
from uniclaw.runner.way_out import WaysOut
from uniclaw.runner.wire_tape import StoredWires, WireTape
from uniclaw.store.records import Axes
from uniclaw.store.run_store import RunStore
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.privacy import Secrets
from uniclaw.supervisor.lines import model_lines
from uniclaw.user_simulator import load_persona

UNGATED = frozenset({"scripted", "cassette"})
"""Providers on this machine: they have no rate and no price."""
CHECKS = "checks"
DEFAULT_PERSONA = "default"


@dataclass
class Workshop:
    """Everything shared by the episodes of a run; makes their seats."""

    run: str
    settings: RunSettings
    suite: Suite
    assets: Assets
    environ: Mapping[str, str]
    notify: Callable[[str], None]
    salt: str = field(default_factory=lambda: secrets.token_hex(16))
    """Seed of the neutral ids; secret towards roles, stored with the run."""
    images: dict[str, str] = field(default_factory=dict[str, str])
    """Recipe name -> tag and content id."""
    secrets: Secrets = field(default_factory=Secrets)
    """Private variables that tasks may ask for."""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])
    """Imported task that cannot run here -> why; none of it is planned."""
    store: RunStore | None = None
    recording: Callable[[Planned], Tape] | None = None
    """For a replay: the stored answers of an episode; no provider is asked."""
    wires: Callable[[Planned], WireTape] | None = None
    """For a replay: what harnesses in containers were answered through the gateway."""
    judges_only: bool = False
    """For judging anew: executor and user simulator are not asked."""
    parent: Callable[[Planned], str] | None = None
    """`RUN/EPISODE` that an episode is made from."""
    origin: Callable[[Planned], Origin] | None = None
    """For forks: what an episode continues."""
    shelf: Shelf = field(default_factory=Shelf)
    """What does not differ between episodes of one task and policy."""
    runs_dir: Path = Path("runs")
    """Where the runs of `cassette/RUN` are."""
    _factory: EnvironmentFactory | None = None

    def __post_init__(self) -> None:
        """Read the price table once."""
        own = PriceTable.load(self.settings.prices) if self.settings.prices else None
        self._prices = own.over(PriceTable.default()) if own else PriceTable.default()
        self._models = ModelSettings.from_environ(self.environ)
        self._gates: dict[str, Gate] = {}
        self.doors = Doors(self._prices, self._models, self.environ)
        self.ways_out = WaysOut(self.settings.private_hosts)
        self.cassettes = Cassettes(self.runs_dir)

    # --- before the run ------------------------------------------------------------------

    def check_cell(self, planned: Planned) -> None:
        """Read everything a cell names: policy, personas, prompts, models.

        Raises:
            UserError: something of it does not exist or does not fit.
        """
        axes = planned.axes
        explain(load_policy(axes.policy, self.assets))
        for bundle in self.suite.tasks:
            self.persona(bundle, axes, self.assets)
        asked = self.judge_names(axes.supervisor) if self.judges_only else self.models_of(axes)
        inside = harness_kind(axes.harness, self.assets).layer is not None
        for spec in asked if self.recording is None else ():
            if is_cassette(spec):
                self.cassettes.store(spec)
            elif inside and spec == axes.model:
                self.doors.check(spec)
            else:
                self.model(spec, None, SpendLimits())

    async def close(self) -> None:
        """End what the run's episodes shared. Idempotent."""
        self.cassettes.close()
        await self.doors.close()

    def models_of(self, axes: Axes) -> tuple[str, ...]:
        """Every model a cell asks."""
        executor = () if axes.model is None else (axes.model,)
        user = () if axes.user_simulator in WITHOUT_MODEL else (axes.user_simulator,)
        auditor = () if self.settings.auditor is None else (self.settings.auditor,)
        return (*executor, *self.judge_names(axes.supervisor), *user, *auditor)

    def check_rubric(self, planned: Planned) -> None:
        """Load a task's rubric, and see that somebody decides every line.

        Raises:
            UserError: it is broken, or needs a judge and `checks` was asked for.
        """
        loaded = planned.bundle.load_rubric()
        judged = model_lines(loaded.rubric)
        if judged and planned.axes.supervisor == CHECKS:
            shown = ", ".join(judged[:5]) + (" ..." if len(judged) > 5 else "")
            raise UserError(
                f"needs a judge model for {shown}; give --supervisor PROVIDER/NAME",
                file=planned.bundle.root,
                field="supervisor",
                value=CHECKS,
            )

    def solution_of(self, bundle: TaskBundle) -> Path | None:
        """The directory of a task's staged solution."""
        if self.settings.solutions is not None:
            given = self.settings.solutions / bundle.task_id
            if given.is_dir():
                return given
        return bundle.solution

    def image_names(self) -> tuple[str, ...]:
        """Recipes of the tasks' environments, with the layers of the run's harnesses."""
        environments = {b.task.environment for b in self.suite.tasks}
        matrix = cells(self.settings, self.assets)
        kinds = [harness_kind(axes.harness, self.assets) for axes in matrix]
        inside = {image_of(e, k) for e in environments for k in kinds}
        networked = any(b.task.network != "none" for b in self.suite.tasks)
        programs = [b.load_rubric().program for b in self.suite.tasks]
        networked |= any(p is not None and p.asks_model for p in programs)
        relay = {RELAY} if networked or any(k.layer for k in kinds) else set[str]()
        services = {spec.image for bundle in self.suite.tasks for spec in bundle.sidecars}
        return tuple(sorted(environments | inside | relay | services))

    def prepare_images(self) -> None:
        """Build what is missing, and note which images the run uses."""
        if self.settings.environment == "docker":
            images = Images(self.assets)
            for name in self.image_names():
                images.build(name, self.notify)
                self.images[name] = f"{images.resolve(name).tag} {images.digest(name)}"
        else:
            self.notify(
                "warning: the process environment does not isolate anything; use it for demos"
                " and tests only"
            )
        self._factory = create_factory(self.settings.environment, assets=self.assets, run=self.run)

    # --- one episode ---------------------------------------------------------------------

    async def assemble(self, planned: Planned) -> Assembled:
        """Put together the seat of one episode."""
        if self.store is None or self._factory is None:
            raise UserError("the workshop was not prepared", field="run", value=self.run)
        return await Assembly(self, planned, self.store, self._factory).build()

    def judge_names(self, supervisor: str) -> tuple[str, ...]:
        """Models that judge; none for `checks`."""
        return () if supervisor == CHECKS else tuple(supervisor.split("+"))

    def persona(self, bundle: TaskBundle, axes: Axes, assets: Assets) -> str:
        """Text of the persona that plays this task's user."""
        name = axes.persona or self.settings.persona or bundle.brief.persona or DEFAULT_PERSONA
        return load_persona(name, bundle.task.language, assets)

    def origin_of(self, planned: Planned) -> Origin | None:
        """What an episode continues; None when it starts from the beginning."""
        if self.origin is not None:
            return self.origin(planned)
        if self.settings.nested and self.store is not None:
            return nested_origin(self.store, planned)
        return None

    def answers(self, planned: Planned, recorder: Recorder, drawn: Mapping[str, str]) -> Through:
        """Where the answers of an episode's models come from: the store first, then providers."""
        if self.store is None:
            raise UserError("the workshop was not prepared", field="run", value=self.run)
        if self.recording is not None:
            return taped(self.recording(planned), recorder, drawn, offline=True)
        if self.judges_only:
            providers = only(self.judge_names(planned.axes.supervisor))
        else:
            providers = taped(earlier_answers(self.store, planned), recorder, drawn, offline=False)
        return self.cassettes.before(providers, planned, recorder, drawn)

    def stored_wires(self, planned: Planned) -> StoredWires:
        """What of the store answers a harness inside its container."""
        model = planned.axes.model
        if self.wires is not None:
            return StoredWires(self.wires(planned), offline=True)
        if model is not None and is_cassette(model):
            return StoredWires(self.cassettes.wires(model, planned, self.notify), offline=True)
        if self.store is None or planned.attempt == 1:
            return StoredWires()
        return StoredWires(earlier_wires(self.store, planned))

    def model(
        self,
        spec: str,
        observer: ExchangeObserver | None,
        limits: SpendLimits,
        through: Through | None = None,
    ) -> MeteredModel:
        """A metered model by its name, with the run's providers and prices."""

        def make() -> ChatModel:
            bare = create_bare_model(spec, settings=self._models)
            provider = spec.partition("/")[0]
            return bare if provider in UNGATED else GatedModel(bare, self._gate(provider))

        inner = make() if through is None else through(spec, make)
        return MeteredModel(inner, limits, self._prices, observer)

    def _gate(self, provider: str) -> Gate:
        """The slots of a provider, shared by the whole run."""
        if provider not in self._gates:
            self._gates[provider] = Gate(self.settings.parallel_models.get(provider))
        return self._gates[provider]

    def priced(self, spec: str) -> bool:
        """Whether a model's calls can be counted in USD."""
        return self.free(spec) or self._prices.price(spec) is not None

    def free(self, spec: str) -> bool:
        """Whether a model costs nothing, because it is on this machine."""
        return spec.partition("/")[0] in UNGATED

    def price(self, spec: str) -> ModelPrice | None:
        """A model's price, if the table has one."""
        return self._prices.price(spec)
