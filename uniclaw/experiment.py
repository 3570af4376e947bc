"""The matrix: from settings to cells, and from cells and tasks to the episodes to play."""

import hashlib
import itertools
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from uniclaw.assets import Assets
from uniclaw.config import RunSettings
from uniclaw.errors import UserError
from uniclaw.harnesses import harness_kind
from uniclaw.records import Budget, EpisodeId, Task
from uniclaw.store.attempts import attempt_id
from uniclaw.store.records import Axes
from uniclaw.suites.bundle import Suite, TaskBundle

ROUND_0 = "none"
"""User simulator of the episodes that play round 0 alone, for others to continue from."""
NEUTRAL, REPEAT = "template:neutral", "template:repeat"
"""Control arms: every message is a neutral template; or the instruction once more."""
WITHOUT_MODEL = frozenset({"template", NEUTRAL, REPEAT, ROUND_0})
"""User simulators that ask no model."""


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


def split_executor(text: str, assets: Assets | None = None) -> tuple[str, str | None]:
    """`HARNESS[:MODEL]` into its parts.

    Args:
        text: as the user wrote it.
        assets: where command templates are; the default places if None.

    Raises:
        UserError: unknown harness, or a model missing or given to one that takes none.
    """
    name, _, model = text.partition(":")
    kind = harness_kind(name, assets)
    if kind.needs_model and not model:
        raise UserError(
            f"the {name} harness needs a model: {name}:PROVIDER/NAME", field="executor", value=text
        )
    if model and not kind.needs_model:
        raise UserError(f"the {name} harness takes no model", field="executor", value=text)
    return name, model or None


def cells(settings: RunSettings, assets: Assets | None = None) -> tuple[Axes, ...]:
    """All combinations of the axes, in the order they were written.

    Args:
        settings: of the run.
        assets: where command templates of harnesses are; the default places if None.

    Raises:
        UserError: an executor that is none, or a cell that is named twice.
    """
    more = settings.axes
    combined = itertools.product(
        settings.executor,
        settings.supervisor,
        settings.user_simulator,
        settings.firewall,
        more.feedback_rounds or (settings.feedback_rounds,),
        more.persona or (None,),
        more.budget or (1.0,),
        itertools.product(
            more.temperature or (None,), more.top_p or (None,), more.effort or (None,)
        ),
        more.skills or ((),),
    )
    found: list[Axes] = []
    for (
        executor,
        supervisor,
        user,
        policy,
        rounds,
        persona,
        factor,
        (temperature, top_p, effort),
        skills,
    ) in combined:
        harness, model = split_executor(executor, assets)
        axes = Axes(
            executor=executor,
            harness=harness,
            model=model,
            supervisor=supervisor,
            user_simulator=user,
            policy=policy,
            feedback_rounds=rounds,
            persona=persona,
            budget_factor=factor,
            temperature=temperature,
            top_p=top_p,
            effort=effort,
            skills=skills,
        )
        _check_sampling(axes, assets)
        found.append(axes)
    if len({axes.cell for axes in found}) != len(found):
        raise UserError("the matrix names a cell twice", field="executor")
    return tuple(found)


def _check_sampling(axes: Axes, assets: Assets | None) -> None:
    """Refuse what the executor could not pass on to its model."""
    asked = {"temperature": axes.temperature, "top_p": axes.top_p, "effort": axes.effort}
    kind = harness_kind(axes.harness, assets)
    for name, value in asked.items():
        if value is None:
            continue
        field = f"axes.{name}"
        if axes.model is None:
            raise UserError(
                f"{name} needs a model, and this executor has none",
                field=field,
                value=axes.executor,
            )
        if name not in kind.takes:
            raise UserError(
                f"the {axes.harness} harness cannot be told its model's {name}",
                field=field,
                value=value,
            )
    anthropic = axes.model is not None and axes.model.startswith("anthropic/")
    if anthropic and axes.effort is not None:
        if kind.layer is not None:
            raise UserError(
                f"the {axes.harness} harness asks for it in a way this provider does not know",
                field="axes.effort",
                value=axes.executor,
            )
        if axes.effort in {"none", "minimal"}:
            raise UserError(
                "this provider knows low, medium, high, xhigh and max",
                field="axes.effort",
                value=axes.effort,
            )


def base_of(axes: Axes) -> Axes:
    """The cell whose round 0 a nested cell continues."""
    return axes.model_copy(update={"policy": "sealed", "user_simulator": ROUND_0})


def nested_cells(matrix: tuple[Axes, ...]) -> tuple[Axes, ...]:
    """The cells of an ablation: round 0 alone, two controls, and the policies."""
    found: dict[Axes, None] = {}
    for axes in matrix:
        base = base_of(axes)
        controls = [base.model_copy(update={"user_simulator": name}) for name in (REPEAT, NEUTRAL)]
        found |= dict.fromkeys((base, *controls, axes))
    return tuple(found)


def episode_seed(seed: int, task: Task, trial: int) -> int:
    """Seed of an episode: the same for all cells, so that cells are compared on equal terms."""
    digest = hashlib.sha256(f"{seed}|{task.task_id}|{trial}".encode()).digest()
    return int.from_bytes(digest[:4], "big")


def chosen(settings: RunSettings, suite: Suite) -> tuple[TaskBundle, ...]:
    """Tasks of the languages and capabilities asked for.

    Raises:
        UserError: none is left, or a name that no task has.
    """
    for field, wanted, known in (
        ("languages", settings.languages, {b.task.language for b in suite.tasks}),
        ("capabilities", settings.capabilities, {b.task.capability for b in suite.tasks}),
    ):
        for name in wanted:
            if name not in known:
                raise UserError(
                    f"no task has it; there are {sorted(known)}", field=field, value=name
                )
    found = tuple(
        bundle
        for bundle in suite.tasks
        if (not settings.languages or bundle.task.language in settings.languages)
        and (not settings.capabilities or bundle.task.capability in settings.capabilities)
    )
    if not found:
        raise UserError("no task fits all filters together", field="capabilities")
    return found


def expected_s(task: Task) -> float:
    """Seconds a task may take by its own budget; what has none is taken for long."""
    budget = task.budget
    if budget.executor_s is not None:
        return budget.executor_s
    return math.inf if budget.turn_s is None else budget.turn_s * (budget.feedback_rounds + 1)


def plan(
    run: str, settings: RunSettings, suite: Suite, assets: Assets | None = None
) -> list[Planned]:
    """Every (task, cell, trial) once.

    Trials follow one another, and all cells of a task stand together, so that an early stop is
    a balanced comparison. Within a trial long tasks come first: none is left alone at the end.

    Args:
        run: name of the run; part of each episode's id.
        settings: of the run.
        suite: loaded, already filtered by task id.
        assets: where command templates of harnesses are; the default places if None.
    """
    planned: list[Planned] = []
    tasks, matrix = chosen(settings, suite), cells(settings, assets)
    if settings.nested:
        matrix = nested_cells(matrix)
    for trial in range(settings.trials):
        bundles = list(tasks)
        random.Random(f"{settings.seed}|{trial}").shuffle(bundles)
        bundles.sort(key=lambda b: -expected_s(b.task))
        for bundle in bundles:
            for axes in matrix:
                key = f"{run}|{bundle.task_id}|{axes.cell}|{trial}"
                digest = hashlib.sha256(key.encode()).hexdigest()[:10]
                seed = episode_seed(settings.seed, bundle.task, trial)
                planned.append(
                    Planned(EpisodeId(f"e{digest}"), with_skills(bundle, axes), axes, trial, seed)
                )
    return planned


def with_skills(bundle: TaskBundle, axes: Axes) -> TaskBundle:
    """The task with the skills that a cell adds.

    Raises:
        UserError: no directory, or a name the task has already.
    """
    if not axes.skills:
        return bundle
    skills = dict(bundle.skills)
    for text in axes.skills:
        path = Path(text)
        if not path.is_dir():
            raise UserError("no such directory", field="axes.skills", value=text)
        if path.name in skills:
            raise UserError("the task has a skill of this name", field="axes.skills", value=text)
        skills[path.name] = path
    task = bundle.task.model_copy(update={"skills": tuple(sorted(skills))})
    return replace(bundle, task=task, skills=skills)


def budget_of(settings: RunSettings, task: Task, axes: Axes) -> Budget:
    """The task's budget with the run's overrides and the cell's factor."""
    changes: dict[str, float | int] = {}
    limit = settings.budgets.episode
    if axes.feedback_rounds is not None:
        changes["feedback_rounds"] = axes.feedback_rounds
    if settings.max_cost_usd is not None:
        changes["cost_usd"] = settings.max_cost_usd
    if limit.usd is not None:
        changes["cost_usd"] = limit.usd
    if limit.tokens is not None:
        changes["tokens"] = limit.tokens
    if limit.hours is not None:
        changes["executor_s"] = limit.hours * 3600
    budget = task.budget.model_copy(update=changes)
    return budget if axes.budget_factor == 1.0 else _scaled(budget, axes.budget_factor)


def _scaled(budget: Budget, factor: float) -> Budget:
    def real(value: float | None) -> float | None:
        return None if value is None else value * factor

    def whole(value: int | None) -> int | None:
        return None if value is None else max(1, round(value * factor))

    return budget.model_copy(
        update={
            "turn_s": real(budget.turn_s),
            "executor_s": real(budget.executor_s),
            "cost_usd": real(budget.cost_usd),
            "tokens": whole(budget.tokens),
            "model_calls": whole(budget.model_calls),
        }
    )
