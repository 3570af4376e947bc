"""Fault 36: held-out answers reach the agent through feedback."""

import base64
from pathlib import Path

import pytest
from hidden_case import NOTHING, loaded, policy, screen, verdict

from uniclaw.firewall.canary import CanarySet
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.firewall.projection import project


@pytest.mark.parametrize("name", ["sealed", "binary", "coarse", "paper", "hints", "missing"])
def test_fault_36_a_canary_in_every_rubric_field_stays_on_the_hidden_side(
    name: str, tmp_path: Path
) -> None:
    material = HiddenMaterial.of(loaded(tmp_path), policy(name))
    canaries = CanarySet.create(where for where, _ in material.texts())
    marked = [canaries.mark(where, text) for where, text in material.texts()]
    found = verdict().model_copy(
        update={
            "rationale": " ".join(marked),
            "reason": marked[0],
            "lines": tuple(
                line.model_copy(update={"description": marked[0]}) for line in verdict().lines
            ),
        }
    )
    released = project(found, policy(name), strip=canaries.strip)
    assert canaries.hits(" ".join(marked))
    assert not canaries.hits(released.model_dump_json())


@pytest.mark.parametrize(
    "said",
    [
        "The revenue is 9130438.08.",
        f"Note: {base64.b64encode(b'9130438.08').decode()}",
        f"Note: {'9130438.08'[::-1]}",
        "Die Summe ist 9.130.438,08.",
        "总收入九百一十三万零四百三十八点零八。",
    ],
)
def test_fault_36_quoted_rationale_values_are_blocked_in_any_form(
    said: str, tmp_path: Path
) -> None:
    decision = screen(tmp_path).check(said, visible=(), progress=NOTHING)
    assert decision.leak


def test_fault_36_values_split_over_turns_are_blocked(tmp_path: Path) -> None:
    decision = screen(tmp_path).check(
        "... and then 438.08", visible=(), progress=NOTHING, history=("First comes 9130 ...",)
    )
    assert decision.leak
