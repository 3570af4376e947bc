"""Ablations over rows: planted effects are covered, leaks are told from the base rate."""

import random
from xml.etree import ElementTree

import pytest
from ablation_cast import ARMS, Cast, draw, episode, rows_of, truth

from uniclaw.errors import UserError
from uniclaw.statistics.ablation import AblationOptions, AblationReport, Told, ablation
from uniclaw.statistics.ablation_figure import points, svg
from uniclaw.statistics.ablation_words import paragraph

DRAWS, FAMILIES = 200, 40


def test_intervals_cover_planted_effects_at_their_level() -> None:
    rng = random.Random(20_261_201)
    held: dict[str, list[bool]] = {"zero": [], "some": []}
    for number in range(DRAWS):
        cast = draw(rng)
        options = AblationOptions(resamples=400, seed=number)
        report = ablation(rows_of(cast, FAMILIES, rng), options)
        for arm in report.arms:
            for effect in arm.effects:
                if arm.name == "sealed":
                    continue
                planted = truth(cast, arm.name, failing=effect.scope == "failing")[effect.measure]
                ends = effect.difference.ci
                assert ends is not None
                held["some" if cast.mend else "zero"].append(
                    ends[0] - 1e-9 <= planted <= ends[1] + 1e-9
                )
    assert all(len(found) > 50 for found in held.values())
    for found in held.values():
        # Twelve intervals a draw stand on the same rows, so the bounds are those of 200 draws.
        assert 0.91 <= sum(found) / len(found) <= 0.995


def report(told: list[Told] | None = None, mend: float = 0.8) -> AblationReport:
    rows = rows_of(Cast(mend, 0.5, 0.0), 20, random.Random(3))
    return ablation(rows, AblationOptions(resamples=500), told=told or [])


def test_round_0_is_the_same_for_all_arms_and_failing_pairs_are_those_that_did_not_pass() -> None:
    found = report()
    assert found.states == 40
    effects = next(a for a in found.arms if a.name == "open").effects
    assert {e.pairs for e in effects if e.scope == "overall"} == {40}
    assert {e.pairs for e in effects if e.scope == "failing"} == {found.failing_states}


def test_a_leak_above_the_base_rate_is_found_and_the_base_rate_itself_is_not() -> None:
    told = [
        Told(arm, f"t{n}", "general", leak=(arm == "open") or n == 0)
        for n in range(20)
        for arm in ARMS
    ]
    found = {arm.name: arm.leak for arm in report(told).arms}
    assert found["open"] is not None
    assert found["open"].above_base is True
    for name in ("sealed", "coarse", "hints"):
        leak = found[name]
        assert leak is not None
        assert leak.above_base is False
    assert "Beyond the base rate of sealed leak open." in paragraph(report(told))


def test_words_claim_no_effect_where_none_is_shown() -> None:
    said = paragraph(report(mend=0.0))
    assert "worth" not in said
    assert "no effect is shown" in said


def test_the_figure_is_a_drawing_of_the_data() -> None:
    shown = points(report())
    assert [point.arm for point in shown] == ["sealed", "coarse", "hints", "open"]
    drawn = ElementTree.fromstring(svg(shown, against="coarse", level=0.95))
    assert len(drawn.findall("{*}circle")) == len(shown)


def test_what_is_no_ablation_is_refused() -> None:
    row = episode("t0", 0, "open", [1, 0])
    with pytest.raises(UserError, match="no such arm"):
        ablation([row])
    other = row.model_copy(update={"cell": "another executor"})
    with pytest.raises(UserError, match="twice"):
        ablation([row, other], AblationOptions(against="open"))
