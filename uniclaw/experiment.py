"""The matrix: from settings to cells, and from cells and tasks to the episodes to play."""

import hashlib
import itertools
import random
from typing import NamedTuple

from uniclaw.config import RunSettings
from uniclaw.errors import UserError
from uniclaw.harnesses import harness_kind
from uniclaw.records import Budget, EpisodeId, Task
from uniclaw.store.attempts import attempt_id
from uniclaw.store.records import Axes
from uniclaw.suites.bundle import Suite, TaskBundle


class Planned(NamedTuple):
    """One episode to play."""

    episode_id: EpisodeId
    bundle: TaskBundle
    axes: Axes
    trial: int
    seed: int
    attempt: int = 1

    @property
    def attempt_id(self) -> EpisodeId:
        """Id of this attempt: its directory, containers and checkpoints."""
        return EpisodeId(attempt_id(self.episode_id, self.attempt))


def split_executor(text: str) -> tuple[str, str | None]:
    """`HARNESS[:MODEL]` into its parts.

    Raises:
        UserError: unknown harness, or a model missing or given to one that takes none.
    """
    name, _, model = text.partition(":")
    kind = harness_kind(name)
    if kind.needs_model and not model:
        raise UserError(
            f"the {name} harness needs a model: {name}:PROVIDER/NAME", field="executor", value=text
        )
    if model and not kind.needs_model:
        raise UserError(f"the {name} harness takes no model", field="executor", value=text)
    return name, model or None


def cells(settings: RunSettings) -> tuple[Axes, ...]:
    """All combinations of the axes, in the order they were written."""
    combined = itertools.product(
        settings.executor, settings.supervisor, settings.user_simulator, settings.firewall
    )
    found: list[Axes] = []
    for executor, supervisor, simulator, policy in combined:
        harness, model = split_executor(executor)
        found.append(
            Axes(
                executor=executor,
                harness=harness,
                model=model,
                supervisor=supervisor,
                user_simulator=simulator,
                policy=policy,
                feedback_rounds=settings.feedback_rounds,
            )
        )
    if len({axes.cell for axes in found}) != len(found):
        raise UserError("the matrix names a cell twice", field="executor")
    return tuple(found)


def episode_seed(seed: int, task: Task, trial: int) -> int:
    """Seed of an episode: the same for all cells, so that cells are compared on equal terms."""
    digest = hashlib.sha256(f"{seed}|{task.task_id}|{trial}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def plan(run: str, settings: RunSettings, suite: Suite) -> list[Planned]:
    """Every (task, cell, trial) once; interleaved so that an early stop is a balanced sample.

    Args:
        run: name of the run; part of each episode's id.
        settings: of the run.
        suite: loaded, already filtered.
    """
    planned: list[Planned] = []
    for trial in range(settings.trials):
        bundles = list(suite.tasks)
        random.Random(f"{settings.seed}|{trial}").shuffle(bundles)
        for bundle in bundles:
            for axes in cells(settings):
                key = f"{run}|{bundle.task_id}|{axes.cell}|{trial}"
                digest = hashlib.sha256(key.encode()).hexdigest()[:10]
                seed = episode_seed(settings.seed, bundle.task, trial)
                planned.append(Planned(EpisodeId(f"e{digest}"), bundle, axes, trial, seed))
    return planned


def budget_of(settings: RunSettings, task: Task) -> Budget:
    """The task's budget with the run's overrides."""
    changes: dict[str, float | int] = {}
    if settings.feedback_rounds is not None:
        changes["feedback_rounds"] = settings.feedback_rounds
    if settings.max_cost_usd is not None:
        changes["cost_usd"] = settings.max_cost_usd
    return task.budget.model_copy(update=changes)
