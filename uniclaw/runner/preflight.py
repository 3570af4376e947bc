"""Checks a plan before anything is played or paid for."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from uniclaw.errors import UserError
from uniclaw.experiment import Planned
from uniclaw.harnesses import harness_kind
from uniclaw.suites.bundle import TaskBundle

if TYPE_CHECKING:
    from uniclaw.runner.seats import Workshop


def check_all(workshop: "Workshop", planned: Sequence[Planned]) -> None:
    """Refuse what cannot be played as asked.

    Raises:
        UserError: a task that cannot run here, a rubric that is broken or needs a judge, a
            missing solution, an unknown policy, persona or model, a model without consent in
            the process environment.
    """
    bundles = {p.bundle.task_id: p.bundle for p in planned}
    for bundle in bundles.values():
        _runnable(bundle, network=workshop.settings.network)
    for item in {p.axes: p for p in planned}.values():
        workshop.check_cell(item)
    for item in planned:
        kind = harness_kind(item.axes.harness, workshop.assets)
        if kind.needs_solution and workshop.solution_of(item.bundle) is None:
            raise UserError(
                "the oracle has no solution for this task; give --solutions DIR",
                field="executor",
                value=item.bundle.task_id,
            )
        workshop.check_rubric(item)
    _services(workshop, bundles.values())
    _programs(workshop, bundles.values())
    _network(workshop, bundles.values())
    _layers(workshop, planned)
    _consent(workshop, planned)
    _prices(workshop, planned)


def _runnable(bundle: TaskBundle, *, network: bool) -> None:
    # A refused row ends its own episodes, with a typed outcome, and nobody else's.
    allowed = {"refused", "needs-network"} if network else {"refused"}
    errors = [f for f in bundle.findings if f.severity == "error" and f.code not in allowed]
    if errors:
        said = "; ".join(f"{f.code}: {f.message}" for f in errors[:5])
        raise UserError(
            f"this task cannot run here: {said}", file=bundle.root, value=bundle.task_id
        )


def _layers(workshop: "Workshop", planned: Sequence[Planned]) -> None:
    for item in planned:
        inside = harness_kind(item.axes.harness, workshop.assets).layer is not None
        if inside and workshop.settings.environment != "docker":
            raise UserError(
                "this harness is installed in an image: it plays in docker alone",
                field="environment",
                value=workshop.settings.environment,
            )


def _services(workshop: "Workshop", bundles: Iterable[TaskBundle]) -> None:
    for bundle in bundles:
        if bundle.sidecars and workshop.settings.environment != "docker":
            named = ", ".join(spec.name for spec in bundle.sidecars)
            raise UserError(
                f"{bundle.task_id} has the services {named}, which play in docker alone",
                field="environment",
                value=workshop.settings.environment,
            )


def _programs(workshop: "Workshop", bundles: Iterable[TaskBundle]) -> None:
    for bundle in bundles:
        if (
            workshop.settings.environment != "docker"
            and bundle.runnable
            and bundle.load_rubric().program is not None
        ):
            raise UserError(
                f"{bundle.task_id} has a grader with fixed paths, which runs in docker alone",
                field="environment",
                value=workshop.settings.environment,
            )


def _network(workshop: "Workshop", bundles: Iterable[TaskBundle]) -> None:
    for bundle in bundles:
        if bundle.task.network != "none" and workshop.settings.environment != "docker":
            raise UserError(
                f"{bundle.task.task_id} asks for a network, whose recording needs docker",
                field="environment",
                value=workshop.settings.environment,
            )


def _consent(workshop: "Workshop", planned: Sequence[Planned]) -> None:
    settings = workshop.settings
    if settings.environment != "process" or settings.model_in_process:
        return
    for item in planned:
        if harness_kind(item.axes.harness, workshop.assets).runs_model_code:
            raise UserError(
                "a model would act on this machine without isolation; use docker, or consent"
                " with --model-in-process",
                field="executor",
                value=item.axes.executor,
            )


def _prices(workshop: "Workshop", planned: Sequence[Planned]) -> None:
    """A budget in USD of a cell or a run needs a price for every model."""
    budgets = workshop.settings.budgets
    if workshop.settings.allow_unknown_prices or (
        budgets.cell.usd is None and budgets.run.usd is None
    ):
        return
    for axes in {p.axes.cell: p.axes for p in planned}.values():
        for spec in workshop.models_of(axes):
            if not workshop.priced(spec):
                raise UserError(
                    "a budget in USD needs the price of every model; add it to a file for"
                    " --prices, or set allow_unknown_prices",
                    field="budgets",
                    value=spec,
                )
