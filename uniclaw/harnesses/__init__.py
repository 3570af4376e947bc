"""Agent programs that can play the executor: one file per harness, chosen by name.

Must not know the hidden side; a harness sees the public task and the messages alone.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.layers import DIRECTORY, layer_names
from uniclaw.errors import UserError
from uniclaw.harnesses.claude_code import ClaudeCode
from uniclaw.harnesses.cli import Program, Seating, program_harness
from uniclaw.harnesses.codex import Codex
from uniclaw.harnesses.command import TEMPLATE, CommandProgram, load_template
from uniclaw.harnesses.edict import Edict
from uniclaw.harnesses.hermes import Hermes
from uniclaw.harnesses.loop import LoopHarness
from uniclaw.harnesses.mini_swe_agent import MiniSweAgent
from uniclaw.harnesses.nanobot import Nanobot
from uniclaw.harnesses.null import NullHarness
from uniclaw.harnesses.openclaw import OpenClaw, OpenClawOnce
from uniclaw.harnesses.opencode import OpenCode
from uniclaw.harnesses.oracle import OracleHarness
from uniclaw.harnesses.person import PersonHarness
from uniclaw.ports import Harness, HarnessContext


class HarnessKind(NamedTuple):
    """What the runner must know of a harness before it starts one."""

    create: Callable[[HarnessContext, Assets], Harness]
    needs_model: bool
    needs_solution: bool = False
    runs_model_code: bool = True
    """It carries out what a model decides: the process environment then needs consent."""
    layer: str | None = None
    """Image layer it needs. Such a harness runs inside and calls the model through a door."""
    memory_bytes: int = 0
    """What its environment must have at least, beside the work."""
    takes: frozenset[str] = frozenset()
    """Settings of its model that can be an axis: `temperature`, `top_p`, `effort`."""


OPENCLAW_BYTES = 3_000_000_000
SAMPLING = frozenset({"temperature", "top_p", "effort"})
"""What a harness takes whose requests are made on the host."""


def _inside(
    name: str, create: Callable[[Seating], Program], layer: str, memory_bytes: int = 1_000_000_000
) -> HarnessKind:
    build = program_harness(name, create)
    return HarnessKind(build, needs_model=True, layer=layer, memory_bytes=memory_bytes)


HARNESSES: Mapping[str, HarnessKind] = {
    "loop": HarnessKind(LoopHarness, needs_model=True, takes=SAMPLING),
    "null": HarnessKind(NullHarness, needs_model=False, runs_model_code=False),
    "oracle": HarnessKind(
        OracleHarness, needs_model=False, needs_solution=True, runs_model_code=False
    ),
    "person": HarnessKind(PersonHarness, needs_model=False, runs_model_code=False),
    "claude-code": _inside("claude-code", ClaudeCode, "claude-code"),
    "codex": _inside("codex", Codex, "codex")._replace(takes=frozenset({"effort"})),
    "edict": _inside("edict", Edict, "edict", OPENCLAW_BYTES),
    "hermes": _inside("hermes", Hermes, "hermes"),
    "mini-swe-agent": _inside("mini-swe-agent", MiniSweAgent, "mini-swe-agent"),
    "nanobot": _inside("nanobot", Nanobot, "nanobot"),
    "openclaw": _inside("openclaw", OpenClaw, "openclaw", OPENCLAW_BYTES),
    "openclaw-once": _inside("openclaw-once", OpenClawOnce, "openclaw", OPENCLAW_BYTES),
    "opencode": _inside("opencode", OpenCode, "opencode"),
}


ALIASES: Mapping[str, str] = {"claudecode": "claude-code", "hermesagent": "hermes"}
"""Names that WildClawBench gives its harnesses -> ours."""


def harness_names(assets: Assets) -> tuple[str, ...]:
    """All harnesses: those written here, and every layer that has a command template."""
    templates = {n for n in layer_names(assets) if assets.exists(f"{DIRECTORY}/{n}/{TEMPLATE}")}
    return tuple(sorted({*HARNESSES, *templates}))


def harness_kind(name: str, assets: Assets | None = None) -> HarnessKind:
    """The harness called `name`.

    Args:
        name: One written here, or a layer with a command template.
        assets: Where templates are found; the default places if None.

    Raises:
        UserError: no such harness, or its template is broken.
    """
    name = ALIASES.get(name, name)
    if name in HARNESSES:
        return HARNESSES[name]
    found = assets or Assets(default_roots(None))
    if name not in harness_names(found):
        raise UserError(
            f"unknown harness; known are {', '.join(harness_names(found))}",
            field="executor",
            value=name,
        )
    template = load_template(name, found)
    return _inside(name, lambda seating: CommandProgram(seating, template), name)
