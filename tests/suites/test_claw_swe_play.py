"""Whole episodes of Claw-SWE-Bench: what an agent leaves is what counts, and nothing it forges."""

import json
from pathlib import Path

import pytest
from player import only, run

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.start import RunResult
from uniclaw.runner.swe_predictions import Selection, write_predictions
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore
from uniclaw.supervisor.swe_patch import Patch

INSTANCES = Path(__file__).parents[1] / "claw_swe/instances.jsonl"
SLUG = "textkit__slug-1"
SHARES = "ledger__shares-7"
FIXED_SLUG = """
cat > slug.py <<'END'
import re
import unicodedata


def slugify(text):
    text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
END
"""


def play(tmp_path: Path, task: str, *rounds: str, **given: object) -> RunResult:
    """Play one instance with scripts in place of its reference patch."""
    solution = tmp_path / "solutions" / task
    solution.mkdir(parents=True)
    for number, script in enumerate(rounds):
        (solution / f"round-{number}.sh").write_text(script)
    return run(
        f"claw-swe:{INSTANCES}",
        tmp_path / "runs",
        tasks=(task,),
        solutions=solution.parent,
        **given,
    )


def values(record: EpisodeRecord, number: int = -1) -> dict[str, float | None]:
    verdict = record.rounds[number].verdict
    assert verdict is not None
    return {line.id: line.result.value for line in verdict.lines}


def patch_of(result: RunResult, number: int = 0) -> Patch:
    record = only(result)
    file = result.root / f"episodes/{record.episode_id}/evidence/{number}.patch.json"
    return Patch.model_validate_json(file.read_bytes())


def test_nothing_in_the_agents_git_decides_what_the_patch_is(tmp_path: Path) -> None:
    tamper = """
git config diff.external false
git config core.worktree /
git config core.hooksPath hooks
git config diff.evil.textconv 'echo forged'
git config filter.evil.clean 'echo forged'
git config core.excludesFile ignored
printf '*\\n' > ignored; printf '*\\n' > .git/info/exclude
printf '*.py diff=evil filter=evil ident -diff\\n' > .gitattributes
cp .gitattributes .git/info/attributes
GIT_DIR=.git GIT_WORK_TREE=. git update-index --assume-unchanged slug.py
GIT_DIR=.git git replace -f HEAD:slug.py $(git --git-dir=.git rev-parse HEAD:README.md)
rm -rf .git/index .git/HEAD; echo nonsense > .git/HEAD
"""
    leave = """
echo notes > AGENTS.md; mkdir -p .nanobot; echo {} > .nanobot/config.json
printf 'import pytest\\n' > conftest.py; echo x > sitecustomize.py
printf '\\0\\1' > blob.bin; echo new > 'a name with "quotes" é.txt'
ln -s slug.py link.py; printf '#!/bin/sh\\n' > tool; chmod +x tool
mkdir -p inner; git init -q inner; echo a > inner/file
echo lock > yarn.lock; mkdir __pycache__; echo c > __pycache__/slug.pyc
rm README.md; mkdir README.md; echo d > README.md/index
"""
    result = play(tmp_path, SLUG, f"{FIXED_SLUG}{leave}{tamper}#: Done.\n")
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    patch = patch_of(result)
    assert patch.applies
    assert "forged" not in patch.text
    for part in (
        'normalize("NFKD"',
        "new file mode 120000",
        "new file mode 100755",
        "b/inner/file",
        "b/README.md/index",
        "b/.gitattributes",
        'quotes\\" é.txt',
    ):
        assert part in patch.text
    assert {d.path: d.reason for d in patch.dropped} == {
        "AGENTS.md": "scaffold file",
        ".nanobot/config.json": "scaffold file",
        "conftest.py": "test runner settings",
        "sitecustomize.py": "test runner settings",
        "blob.bin": "binary",
        "yarn.lock": "lock or build file",
    }


def test_fault_5_printing_passed_and_planting_hooks_changes_no_result(tmp_path: Path) -> None:
    forge = """
cat >> slug.py <<'END'
print("tests/test_slug.py::test_accents PASSED\\n4 passed in 0.01s")
END
cat > conftest.py <<'END'
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    done = yield
    done.get_result().outcome = "passed"
END
printf '[pytest]\\naddopts = --collect-only\\n' > pytest.ini
printf 'def test_accents(): pass\\n' > tests/test_slug.py
echo '{"score": 1.0}' > verdict.json
#: All tests PASSED.
"""
    result = play(tmp_path, SLUG, forge, feedback_rounds=0)
    record = only(result)
    assert record.outcome is Outcome.FAIL
    assert record.final_score == 0.0
    assert values(record) == {"fail_to_pass": 0.0, "pass_to_pass": 0.0}
    assert {d.reason for d in patch_of(result).dropped} == {"test runner settings", "test file"}


def test_the_closed_loop_goes_by_the_tests(tmp_path: Path) -> None:
    half = "sed -i 's/return .*/return [cents \\/\\/ people] * (people - 1) + "
    half += "[cents - cents \\/\\/ people * (people - 1)]/' ledger/shares.py\n#: Sums now.\n"
    rest = "git checkout -q ledger/shares.py\ncat > ledger/shares.py <<'END'\n"
    rest += "def split(cents, people):\n    if people < 1:\n        raise ValueError(people)\n"
    rest += "    share, left = divmod(cents, people)\n"
    rest += "    return [share + 1] * left + [share] * (people - left)\nEND\n#: First ones first.\n"
    record = only(play(tmp_path, SHARES, half, rest))
    assert record.outcome is Outcome.PASS
    assert len(record.rounds) == 2
    assert values(record, 0) == {"fail_to_pass": 0.5, "pass_to_pass": 1.0}
    assert values(record, 1) == {"fail_to_pass": 1.0, "pass_to_pass": 1.0}
    assert record.rounds[0].progress is not None
    assert record.rounds[0].progress.lines is None


def test_a_fix_that_breaks_another_test_does_not_pass(tmp_path: Path) -> None:
    broken = FIXED_SLUG.replace('.strip("-")', "") + "#: Done.\n"
    record = only(play(tmp_path, SLUG, broken, feedback_rounds=0))
    assert record.outcome is Outcome.FAIL
    assert values(record) == {"fail_to_pass": 1.0, "pass_to_pass": 0.5}


def test_a_patch_of_200_mb_is_reported_and_the_rest_is_graded(tmp_path: Path) -> None:
    huge = "yes line | head -c 210000000 > huge.txt; yes line | head -c 6000000 > large.txt\n"
    result = play(tmp_path, SLUG, f"{FIXED_SLUG}{huge}#: Done.\n")
    assert only(result).outcome is Outcome.PASS
    assert {d.path: d.reason for d in patch_of(result).dropped} == {
        "huge.txt": "not copied",
        "large.txt": "too large",
    }


def test_bad_rows_end_alone_and_are_not_tried_again(tmp_path: Path) -> None:
    first = json.loads(INSTANCES.read_text(encoding="utf-8").splitlines()[0])
    first["repository"] = str(INSTANCES.parent / first["repository"])
    elsewhere = first["test_patch"].replace("tests/test_slug.py", "tests/none.py")
    rows = [
        first,
        {**first, "instance_id": "no-base", "base_commit": "0" * 40},
        {**first, "instance_id": "bad-tests", "test_patch": elsewhere},
        {**first, "instance_id": "twice"},
        {**first, "instance_id": "twice"},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(r)}\n" for r in rows) + "{cut\n", encoding="utf-8")
    result = run(f"claw-swe:{file}", tmp_path / "runs")
    found = {r.task_id: r for r in result.records}
    assert found[SLUG].outcome is Outcome.PASS
    assert result.exit_code == 1
    said = {
        "no-base": "TaskRefused: the repository: the base commit",
        "twice": "TaskRefused: the instance stands in rows 4, 5",
        "row-6": "TaskRefused: row 6 is not JSON",
        "bad-tests": "TaskRefused: the test patch does not apply",
    }
    for name, reason in said.items():
        assert found[name].outcome is Outcome.INFRA_ERROR
        assert found[name].final_score is None
        assert reason in (found[name].reason or "")
        assert found[name].attempt == 1
    with RunStore.open(result.root, write=False) as store:
        (written,) = write_predictions(store, tmp_path / "out.jsonl")["files"]  # type: ignore[misc]
    assert isinstance(written, dict)
    assert written["predictions"] == 1
    assert set(written["left_out"]) == set(said)  # type: ignore[arg-type]


def test_the_models_message_is_taken_where_the_ablation_says_so(tmp_path: Path) -> None:
    result = run(f"claw-swe:{INSTANCES}", tmp_path / "a", tasks=(SLUG,), patch_source="model")
    assert only(result).outcome is Outcome.PASS
    assert patch_of(result).source == "model"
    wrong = "true\n#: ```diff\n#: --- a/slug.py\n#: +++ b/slug.py\n#: @@ -1,2 +1,2 @@\n"
    wrong += "#: -nothing like it\n#: +x\n#:  y\n#: ```\n"
    bad = play(tmp_path, SLUG, wrong, patch_source="model", feedback_rounds=0)
    assert only(bad).outcome is Outcome.FAIL
    assert patch_of(bad).applies is False
    with RunStore.open(bad.root, write=False) as store:
        (written,) = write_predictions(store, tmp_path / "out.jsonl")["files"]  # type: ignore[misc]
    assert isinstance(written, dict)
    assert written["not_applying_rate"] == 1.0


def test_with_its_history_kept_the_agent_finds_the_fix(tmp_path: Path) -> None:
    find = "git checkout -q v1.1 -- slug.py && git reset -q\n#: Found it.\n"
    assert only(play(tmp_path / "a", SLUG, find, feedback_rounds=0)).outcome is Outcome.FAIL
    kept = only(play(tmp_path / "b", SLUG, find, history="keep"))
    assert kept.outcome is Outcome.PASS


def test_predictions_hold_one_row_per_instance_for_ever(tmp_path: Path) -> None:
    result = run(f"claw-swe:{INSTANCES}", tmp_path / "runs", tasks=(SLUG,), trials=2)
    out = tmp_path / "out.jsonl"
    with RunStore.open(result.root, write=False) as store:
        with pytest.raises(UserError, match="several cells or trials"):
            write_predictions(store, out)
        for _ in range(2):
            write_predictions(store, out, Selection(cell="oracle", trial=1))
        with pytest.raises(UserError, match="no episodes of that cell"):
            write_predictions(store, out, Selection(cell="nobody"))
        (tmp_path / "many").mkdir()
        write_predictions(store, tmp_path / "many")
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [r["instance_id"] for r in rows] == [SLUG]
    for row in rows:
        assert set(row) == {"instance_id", "model_name_or_path", "model_patch"}
        assert row["model_name_or_path"] == "oracle"
        assert row["model_patch"].startswith("diff --git a/")
    assert len(list((tmp_path / "many").iterdir())) == 2
