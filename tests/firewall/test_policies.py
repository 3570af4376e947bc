from pathlib import Path

import pytest
from hidden_case import ASSETS, POLICIES, policy

from uniclaw.errors import UserError
from uniclaw.firewall.policy import load_policy, policy_names

RELEASED = {
    "sealed": (),
    "binary": ("decision",),
    "coarse": ("decision", "attempt_state", "recoverable", "score:band"),
    "paper": ("decision", "attempt_state", "recoverable", "score:exact"),
    "hints": ("decision", "attempt_state", "recoverable", "score:band", "guidance_tags"),
    "missing": ("decision", "attempt_state", "recoverable", "score:band", "missing_artifacts"),
    "rationale": ("decision", "attempt_state", "recoverable", "score:band", "rationale"),
    "open": (
        "decision", "attempt_state", "recoverable", "score:exact", "guidance_tags",
        "missing_artifacts", "rationale", "lines",
    ),
}  # fmt: skip


def test_all_policies_of_the_design_are_shipped() -> None:
    assert set(POLICIES) <= set(policy_names(ASSETS))


@pytest.mark.parametrize("name", POLICIES)
def test_each_policy_releases_exactly_what_the_design_says(name: str) -> None:
    release = policy(name).release
    on = {field for field in type(release).model_fields if getattr(release, field) is True}
    if release.score != "none":
        on.add(f"score:{release.score.value}")
    assert on == set(RELEASED[name])


def test_the_last_four_only_observe() -> None:
    modes = {name: policy(name).screen for name in POLICIES}
    assert [n for n in POLICIES if modes[n] == "observe"] == [
        "hints",
        "missing",
        "rationale",
        "open",
    ]


def test_policies_differ_in_what_is_released_and_not_in_what_is_visible() -> None:
    assert len({policy(name).visible for name in POLICIES}) == 1


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("rationale: false", "rationale: false\n  ratonale: true", "ratonale"),
        ("score: band", "score: exactly", "score"),
        ("decision: true", "decision: yes", "decision"),
        ("visible: trajectory", "visible: everything", "visible"),
        ("screen: enforce", "screen: enforce\nbudget: 3", "budget"),
    ],
)
def test_unknown_keys_and_values_are_refused_with_file_and_field(
    tmp_path: Path, old: str, new: str, field: str
) -> None:
    text = ASSETS.read_text("firewall/policies/coarse.yaml").replace(old, new)
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_policy(str(file), ASSETS)
    assert "mine.yaml" in str(caught.value)
    assert field in str(caught.value)


@pytest.mark.parametrize("name", ["nosuch", "../coarse", "coarse/../open", "", "missing.yaml"])
def test_an_unknown_policy_names_the_known_ones(name: str) -> None:
    with pytest.raises(UserError, match=r"coarse|no such policy file"):
        load_policy(name, ASSETS)


def test_a_policy_can_be_given_as_a_file(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    text = ASSETS.read_text("firewall/policies/coarse.yaml").replace("name: coarse", "name: own")
    file.write_text(text, encoding="utf-8")
    assert load_policy(str(file), ASSETS).name == "own"
