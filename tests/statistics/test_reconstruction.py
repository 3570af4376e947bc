"""The reconstruction probe: it finds planted bits, and none where there are none."""

import random

import pytest

from uniclaw.firewall.reconstruction import StatusClue, clues
from uniclaw.hidden.verdict import CheckResult, LineResult
from uniclaw.statistics.estimates import Options
from uniclaw.statistics.reconstruction import entropy_bits, reconstruct

OPTIONS = Options(resamples=1000)


def _planted(strength: float, seed: int, families: int = 30) -> list[StatusClue]:
    """Clues in which the feedback speaks of unmet checkpoints with the given strength."""
    rng = random.Random(seed)
    found: list[StatusClue] = []
    for family in range(families):
        for number in range(6):
            unmet = rng.random() < 0.5
            signal = strength * (1.0 if unmet else -1.0) + rng.gauss(0, 1)
            found.append(
                StatusClue(
                    episode=f"e{family}",
                    family=f"f{family}",
                    policy="open" if strength else "sealed",
                    round=0,
                    checkpoint=f"c{number}",
                    unmet=unmet,
                    before=(rng.random(), 0.0, 0.0),
                    after=(signal, abs(signal), 0.0, 0.0, rng.random()),
                )
            )
    return found


def test_feedback_that_tells_everything_carries_nearly_one_bit_a_checkpoint() -> None:
    (row,) = reconstruct(_planted(6.0, seed=1), OPTIONS)
    assert row.bits_per_checkpoint.value is not None
    assert 0.8 < row.bits_per_checkpoint.value <= 1.1
    assert row.bits_per_checkpoint.low is not None
    assert row.bits_per_checkpoint.low > 0.7
    assert row.bits_per_message.value == pytest.approx(6 * row.bits_per_checkpoint.value)


def test_feedback_that_tells_nothing_is_not_accused() -> None:
    values = [
        reconstruct(_planted(0.0, seed), OPTIONS)[0].bits_per_checkpoint.value or 0.0
        for seed in range(20)
    ]
    assert max(values) < 0.05
    assert sum(values) / len(values) <= 0.0  # what noise costs a probe, never a gain


def test_more_is_told_where_more_was_planted() -> None:
    found = [
        reconstruct(_planted(strength, seed=3), OPTIONS)[0].bits_per_checkpoint.value or 0.0
        for strength in (0.3, 1.0, 3.0)
    ]
    assert found == sorted(found)


@pytest.mark.parametrize(
    ("observed", "reason"),
    [
        (_planted(1.0, 0, families=3), "18 checkpoints"),
        ([c.model_copy(update={"family": "one"}) for c in _planted(1.0, 0)], "1 task families"),
        ([c.model_copy(update={"unmet": True}) for c in _planted(1.0, 0)], "same status"),
    ],
)
def test_too_little_gives_a_reason_and_no_number(observed: list[StatusClue], reason: str) -> None:
    (row,) = reconstruct(observed, OPTIONS)
    assert row.bits_per_checkpoint.value is None
    assert reason in str(row.bits_per_checkpoint.reason)


def test_policies_are_measured_apart() -> None:
    rows = reconstruct([*_planted(3.0, 1), *_planted(0.0, 2)], OPTIONS)
    assert [row.policy for row in rows] == ["open", "sealed"]


def _line(identity: str, description: str, value: float) -> LineResult:
    return LineResult(
        id=identity,
        kind="checkpoint",
        weight=0.5,
        description=description,
        decided_by="code",
        result=CheckResult(value=value, reason="because"),
        artifact=f"results/{identity}.csv",
    )


def test_clues_see_which_checkpoint_a_message_is_about() -> None:
    lines = [
        _line("totals", "Refunded orders are left out of the regional totals", 0.0),
        _line("layout", "The table has a header row and sorted columns", 1.0),
    ]
    first, second = clues(
        episode="e",
        family="f",
        policy="open",
        round_number=1,
        lines=lines,
        final_message="I wrote totals.csv.",
        feedback="Please leave refunded orders out of your totals.",
        tags={},
    )
    assert (first.unmet, second.unmet) == (True, False)
    assert first.after[0] > 0 > second.after[0]
    assert first.before[1] == 1.0


def test_entropy_is_the_most_that_can_be_told() -> None:
    assert entropy_bits(0.5) == 1.0
    assert entropy_bits(0.0) == entropy_bits(1.0) == 0.0
