"""Firewall policies: what is released of a verdict, what the simulator sees, what screening does.

A policy is a file under `firewall/policies`; this module knows nothing of verdicts.
"""

from enum import StrEnum
from pathlib import Path
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import Record
from uniclaw.yamlio import parse_record, parse_yaml, read_yaml

POLICY_DIRECTORY = "firewall/policies"
DEFAULT_POLICY = "coarse"


class ScoreRelease(StrEnum):
    """Resolution at which the score is released."""

    NONE = "none"
    BAND = "band"
    EXACT = "exact"


class Release(Record):
    """Which fields of `Progress` are filled from the verdict."""

    decision: bool
    attempt_state: bool
    recoverable: bool
    score: ScoreRelease
    guidance_tags: bool
    missing_artifacts: bool
    rationale: bool
    lines: bool
    """Every checkpoint with its description, weight and value."""


class Policy(Record):
    """One firewall policy."""

    name: str
    description: str = ""
    release: Release
    visible: Literal["messages", "files", "trajectory"]
    """How much of the work the simulator sees: messages; also result files; also events."""
    screen: Literal["enforce", "observe"]
    """`enforce` blocks a leaking draft; `observe` records it and delivers."""


def policy_names(assets: Assets) -> tuple[str, ...]:
    """Names of all policies on the asset path, sorted."""
    return assets.names(POLICY_DIRECTORY, ".yaml")


def load_policy(name_or_path: str, assets: Assets) -> Policy:
    """Load a policy by name, or from a file when the argument ends in `.yaml` or `.yml`.

    Raises:
        UserError: unknown name, unknown key, wrong value, or a file whose `name` is not its own.
    """
    if name_or_path.endswith((".yaml", ".yml")):
        path = Path(name_or_path)
        if not path.is_file():
            raise UserError("no such policy file", field="firewall", value=name_or_path)
        return parse_record(Policy, read_yaml(path), file=path)
    relative = f"{POLICY_DIRECTORY}/{name_or_path}.yaml"
    if not name_or_path.replace("-", "").replace("_", "").isalnum() or not assets.exists(relative):
        known = ", ".join(policy_names(assets)) or "none found"
        raise UserError(
            f"unknown policy; expected one of {known}, or a path ending in .yaml",
            field="firewall",
            value=name_or_path,
        )
    text = assets.read_text(relative)
    file = assets.taken[relative]
    policy = parse_record(Policy, parse_yaml(text, file=file), file=file)
    if policy.name != name_or_path:
        raise UserError(
            f"expected {name_or_path!r}, the file's own name",
            file=file,
            field="name",
            value=policy.name,
        )
    return policy
