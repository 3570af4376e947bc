"""Agent programs that can play the executor: one file per harness, chosen by name.

Must not know the hidden side; a harness sees the public task and the messages alone.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.harnesses.loop import LoopHarness
from uniclaw.harnesses.null import NullHarness
from uniclaw.harnesses.oracle import OracleHarness
from uniclaw.ports import Harness, HarnessContext


class HarnessKind(NamedTuple):
    """What the runner must know of a harness before it starts one."""

    create: Callable[[HarnessContext, Assets], Harness]
    needs_model: bool
    needs_solution: bool = False
    runs_model_code: bool = True
    """It carries out what a model decides: the process environment then needs consent."""


HARNESSES: Mapping[str, HarnessKind] = {
    "loop": HarnessKind(LoopHarness, needs_model=True),
    "null": HarnessKind(NullHarness, needs_model=False, runs_model_code=False),
    "oracle": HarnessKind(
        OracleHarness, needs_model=False, needs_solution=True, runs_model_code=False
    ),
}


def harness_kind(name: str) -> HarnessKind:
    """The harness called `name`.

    Raises:
        UserError: no such harness.
    """
    if name not in HARNESSES:
        raise UserError(
            f"unknown harness; known are {', '.join(sorted(HARNESSES))}",
            field="executor",
            value=name,
        )
    return HARNESSES[name]
