import numpy as np
import pytest
from row_builder import row

from uniclaw.errors import UserError
from uniclaw.statistics.power import PowerOptions, approximate_families, power, simulated_power
from uniclaw.statistics.rows import EpisodeRow


def pilot(families: int, trials: int, seed: int = 0, noise: float = 0.2) -> list[EpisodeRow]:
    rng = np.random.default_rng(seed)
    ease = rng.normal(0.5, 0.1, families)
    return [
        row(
            f"t{i:03d}",
            False,
            float(np.clip(ease[i] + rng.normal(0, noise), 0, 1)),
            cell=name,
            model=name,
            trial=trial,
        )
        for name in ("a", "b")
        for i in range(families)
        for trial in range(trials)
    ]


SCORES = PowerOptions(measures=("score",), definition="final", effect=0.05, resamples=2000)


def test_the_normal_approximation_equals_the_textbook_number() -> None:
    # sd 0.2, d 0.05, power 0.8, alpha 0.05: (1.959964 + 0.841621)^2 * 16 = 125.6
    assert approximate_families(0.04, PowerOptions(effect=0.05)) == 126


def test_simulated_power_equals_that_of_the_t_test() -> None:
    # statsmodels 0.15 TTestPower().power(0.5, 34, 0.05); R power.t.test gives the same
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, 20_000)
    values = (values - values.mean()) / values.std()
    found = simulated_power(values, 34, PowerOptions(effect=0.5, resamples=20_000))
    assert found == pytest.approx(0.8077775, abs=0.012)


def test_power_grows_with_tasks_and_with_trials() -> None:
    found = power(pilot(60, 2), SCORES).measures[0]
    levels = [point.power for point in found.curve]
    assert levels == sorted(levels)
    needed = [need.families or 0 for need in found.needed]
    assert needed == sorted(needed, reverse=True)
    assert found.noise_from == "trials"


def test_noise_alone_is_averaged_out_by_trials() -> None:
    found = power(pilot(200, 3), SCORES).measures[0]
    assert found.noise_share == pytest.approx(1.0, abs=0.2)
    one, five = found.needed[0].families or 0, found.needed[3].families or 1
    assert one / five == pytest.approx(5, rel=0.35)


def test_one_trial_without_twins_says_nothing_on_trials() -> None:
    found = power(pilot(60, 1), SCORES).measures[0]
    assert found.noise_from == "unknown"
    assert found.needed[0].families is not None
    assert found.needed[1].families is None
    assert found.needed[1].reason == "the pilot has one trial a task and no twins"


def test_a_pilot_of_equals_is_undefined() -> None:
    rows = [row(f"t{i}", True, cell=c, model=c) for i in range(9) for c in "ab"]
    found = power(rows, SCORES).measures[0]
    assert found.pair is None
    assert found.reason is not None


def test_one_cell_is_no_pilot() -> None:
    with pytest.raises(UserError, match="two cells"):
        power([row("a")], SCORES)


def test_a_small_pilot_warns() -> None:
    found = power(pilot(8, 2), SCORES).measures[0]
    assert any("8 families" in note for note in found.warnings)
