"""A grader that an imported benchmark brings along: a program with a function `grade`.

It is data here. Where and how it is run is the business of `supervisor.wild_grader`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

OVERALL = "overall_score"


@dataclass(frozen=True, kw_only=True)
class GraderProgram:
    """A grader and what it needs beside the evidence."""

    source: str
    """Python, as the benchmark has it."""
    workspace: str
    """Absolute directory that it looks into."""
    hidden: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Path relative to the workspace -> host file that only graders see."""
    idle: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Path relative to the workspace -> host file that the agent was given."""
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    """Criterion -> its share of the overall score, where the source says so."""
    asks_model: bool = False
    runs_code: bool = False
    """It carries out what the agent wrote, so it gets no way to a model."""
    timeout_s: float = 120.0
