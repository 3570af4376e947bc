"""Claw-SWE-Bench in containers: the plain user, a clean history, tests in a grader of their own."""

import json
from pathlib import Path

import pytest
from player import run

from uniclaw.records import Outcome

INSTANCES = Path(__file__).parents[1] / "claw_swe/instances.jsonl"
SEARCH = """
{ git log --all --reflog --format=%s; git stash list; git tag; git branch -a
  git fsck --lost-found --no-reflogs; git cat-file --batch-all-objects --batch
  cat .git/packed-refs .git/FETCH_HEAD; ls -A /tmp
  find / -xdev -name '*.tar.gz' -newer /etc/hostname -not -path '/proc/*'; id -un
} > found.txt 2>&1
sed -i "s/return sum . (1 - discount)/return sum * (1 - Math.min(1, Math.max(0, discount)))/" \\
  lib/total.js
#: Looked everywhere, then fixed it.
"""


@pytest.mark.docker
def test_reference_patches_pass_in_containers(tmp_path: Path, unique: str) -> None:
    result = run(
        f"claw-swe:{INSTANCES}",
        tmp_path,
        tasks=("rows*", "textkit*"),
        environment="docker",
        run=unique,
    )
    assert {r.outcome for r in result.records} == {Outcome.PASS}


@pytest.mark.docker
def test_fault_1_the_fix_is_nowhere_in_the_agents_container(tmp_path: Path, unique: str) -> None:
    solution = tmp_path / "solutions/cart__total-3"
    solution.mkdir(parents=True)
    (solution / "round-0.sh").write_text(SEARCH)
    result = run(
        f"claw-swe:{INSTANCES}",
        tmp_path / "runs",
        tasks=("cart*",),
        environment="docker",
        run=unique,
        solutions=solution.parent,
    )
    (record,) = result.records
    assert record.outcome is Outcome.PASS, record.reason
    evidence = result.root / f"episodes/{record.episode_id}/evidence"
    found = (evidence / "0/testbed/found.txt").read_bytes().decode("utf-8", "replace")
    assert "Say what it does" in found
    for trace in (
        "Fix it",
        "An early fix",
        "given up",
        "v1.1",
        "stash@",
        "dangling",
        "uniclaw-swe",
    ):
        assert trace not in found, trace
    assert "const share = Math.min" not in found
    assert found.splitlines()[-1] == "agent"
    patch = json.loads((evidence / "0.patch.json").read_text(encoding="utf-8"))
    assert "found.txt" in patch["text"] or any(d["path"] == "found.txt" for d in patch["dropped"])
