"""What a probe that knows the list of checkpoints can tell from what was said.

For each checkpoint of a round: whether it was unmet, how near its wording is to what was
visible anyway, and how near it is to the feedback. `statistics.reconstruction` turns these into
bits. Pure functions over stored rounds; the features are the hidden side's, for measuring alone.
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from uniclaw.firewall.normal import fold
from uniclaw.firewall.terms import terms
from uniclaw.hidden.verdict import LineResult
from uniclaw.records import Count, Record


class StatusClue(Record):
    """One checkpoint of one round, as a probe meets it."""

    episode: str
    family: str
    policy: str
    round: Count
    checkpoint: str
    unmet: bool
    before: tuple[float, ...]
    """Likeness to the executor's last message, whether that names its artifact, the round."""
    after: tuple[float, ...]
    """Likeness to the feedback (less the mean over the round's checkpoints, and itself), whether
    the feedback names its artifact, likeness of its tag's wording, and the feedback's length."""


def clues(
    *,
    episode: str,
    family: str,
    policy: str,
    round_number: int,
    lines: Sequence[LineResult],
    final_message: str,
    feedback: str,
    tags: Mapping[str, str],
) -> tuple[StatusClue, ...]:
    """What a probe is given of each checkpoint of a round.

    Args:
        episode: id.
        family: of the task; twins share it.
        policy: in force.
        round_number: of the verdict that the feedback answers.
        lines: of that verdict.
        final_message: what the executor said last.
        feedback: what was delivered.
        tags: wording of each guidance tag, in the task's language.
    """
    asked = [line for line in lines if line.kind == "checkpoint" and line.result.value is not None]
    said, told = _weights(final_message), _weights(feedback)
    near = [_likeness(_weights(line.description), told) for line in asked]
    mean = sum(near) / len(near) if near else 0.0
    found: list[StatusClue] = []
    for line, likeness in zip(asked, near, strict=True):
        described = _weights(line.description)
        found.append(
            StatusClue(
                episode=episode,
                family=family,
                policy=policy,
                round=round_number,
                checkpoint=line.id,
                unmet=(line.result.value or 0.0) < 1.0,
                before=(
                    _likeness(described, said),
                    _names(line.artifact, final_message),
                    float(round_number),
                ),
                after=(
                    likeness - mean,
                    likeness,
                    _names(line.artifact, feedback),
                    _likeness(_weights(tags.get(line.tag or "", "")), told),
                    math.log1p(len(feedback)),
                ),
            )
        )
    return tuple(found)


def _weights(text: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for term in terms(fold(text)):
        found[term.key] = max(found.get(term.key, 0.0), term.weight)
    return found


def _likeness(described: Mapping[str, float], said: Mapping[str, float]) -> float:
    """Share of the description's weight that stands in what was said, 0 to 1."""
    whole = sum(described.values())
    if whole == 0:
        return 0.0
    return sum(weight for key, weight in described.items() if key in said) / whole


def _names(artifact: str | None, text: str) -> float:
    if not artifact:
        return 0.0
    return float(PurePosixPath(artifact).name.casefold() in text.casefold())
