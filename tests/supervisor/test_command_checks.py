import os
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue
from recording import RecordingFactory
from workshop import Workshop, make_task, one_line

SOLVE = """
import sys
print("id,v")
for i, x in enumerate(open(sys.argv[1])):
    print(f"{i},{int(x) * 2}")
"""
RERUN: dict[str, JsonValue] = {
    "kind": "command",
    "run": "python3 results/solve.py fixtures/in.txt",
    "timeout_s": 20,
    "files": {"/workspace/fixtures/in.txt": "fixtures/in.txt"},
    "then": {
        "kind": "csv",
        "path": "stdout",
        "rows": 2,
        "equals": {"ref": "references/out.csv"},
    },
}


def prepared(shop: Workshop) -> Workshop:
    shop.beside("fixtures/in.txt", "3\n4\n")
    shop.reference("out.csv", "id,v\n0,6\n1,8\n")
    return shop


async def run(shop: Workshop, check: dict[str, JsonValue], files: dict[str, str | bytes | None]):
    return (await shop.verdict(check, shop.evidence(files))).lines[0].result


async def test_code_of_the_agents_runs_apart_and_its_output_is_compared(
    shop: Workshop, factory: RecordingFactory
):
    result = await run(prepared(shop), RERUN, {"solve.py": SOLVE})
    assert result.value == 1.0, result.reason
    assert result.evidence == ("/command/x/stdout",)
    (clean,) = factory.started
    assert clean.closed
    assert clean.spec.workspace == "/workspace"
    copied = [path for put in clean.puts for path in put]
    assert copied == ["/workspace/results", "/workspace/fixtures/in.txt"]


async def test_wrong_output_missing_code_and_failure_are_not_met(shop: Workshop):
    prepared(shop)
    for files, words in [
        ({"solve.py": SOLVE.replace("* 2", "* 3")}, "0 of 2 rows agree"),
        ({"solve.py": SOLVE + "sys.exit(3)\n"}, "exit code 3; expected 0"),
        ({}, "exit code 2; expected 0"),
    ]:
        result = await run(shop, RERUN, dict(files))
        assert result.value == 0.0
        assert words in result.reason


async def test_imports_of_the_agents_own_modules_work(shop: Workshop):
    files: dict[str, str | bytes | None] = {
        "solve.py": "import rules\n" + SOLVE,
        "rules.py": "",
    }
    assert (await run(prepared(shop), RERUN, files)).value == 1.0


async def test_kept_files_are_seen_by_the_second_phase(shop: Workshop, factory: RecordingFactory):
    shop.beside(
        "checks.py",
        "def check(evidence, references):\n"
        "    return {'value': evidence.text('made/x.txt') == 'new\\n'\n"
        "        and evidence.text('exit_code') == '0' and evidence.text('none') is None\n"
        "        and evidence.text('/workspace/results/old.txt') == 'old'}\n",
    )
    check: dict[str, JsonValue] = {
        "kind": "command",
        "run": "mkdir results/made; echo new > results/made/x.txt; echo changed > results/old.txt",
        "keep": ["made/x.txt", "none"],
        "then": {"kind": "python", "function": "check"},
    }
    result = await run(shop, check, {"old.txt": "old"})
    assert result.value == 1.0, result.reason
    assert [e.spec.workspace for e in factory.started] == ["/workspace", "/grader"]


async def test_a_command_that_hangs_is_stopped(shop: Workshop):
    check: dict[str, JsonValue] = {"kind": "command", "run": "sleep 300", "timeout_s": 1}
    result = await run(shop, check, {})
    assert result.value == 0.0
    assert "stopped after 1 s" in result.reason


async def test_output_past_the_limit_is_cut_and_said(shop: Workshop):
    check: dict[str, JsonValue] = {
        "kind": "command",
        "run": "yes 12345 | head -c 6000000",
        "then": {"kind": "text", "path": "stdout", "contains": ["nothing"]},
    }
    result = await run(shop, check, {})
    assert result.value == 0.0
    assert "cut at the limit" in result.reason


async def test_a_command_that_ends_two_environments_ended_them_itself(
    shop: Workshop, factory: RecordingFactory
):
    check: dict[str, JsonValue] = {"kind": "command", "run": "true"}
    factory.lose = 1
    assert (await run(shop, check, {})).value == 1.0
    factory.lose = 2
    result = await run(shop, check, {})
    assert result.value == 0.0
    assert "took its environment down" in result.reason
    factory.refuse = 1
    result = await run(shop, check, {})
    assert result.value is None
    assert "it does not start" in result.reason
    assert all(environment.closed for environment in factory.started)


async def test_every_command_has_an_environment_of_its_own(
    shop: Workshop, factory: RecordingFactory
):
    plant: dict[str, JsonValue] = {
        "kind": "command",
        "run": "echo x > results/planted; echo y > ~/p",
    }
    look: dict[str, JsonValue] = {
        "kind": "command",
        "run": 'test ! -e results/planted && test -z "$(ls -A ~)" && test -z "$(ls -A $TMPDIR)"',
    }
    check: dict[str, JsonValue] = {"kind": "all", "of": [plant, look, look]}
    result = await run(shop, check, {})
    assert result.value == 1.0, result.reason
    assert len(factory.started) == 3


CONFTEST = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
def pytest_sessionfinish(session, exitstatus):
    session.exitstatus = 0
"""
HIDDEN_TEST = """
import os, sys
sys.path.insert(0, os.path.join(os.environ.get("ROOT_DIR", "results")))
def test_double():
    from solution import double
    assert double(2) == 4
"""


@pytest.fixture
def with_pytest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter of this test run has pytest; the machine's need not."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.mark.usefixtures("with_pytest")
@pytest.mark.parametrize(
    ("root", "run_command"),
    [
        ("/workspace/results", "python3 -m pytest -q fixtures/test_hidden.py"),
        (
            "/workspace/results",
            "cp fixtures/test_hidden.py results/ && pytest -q results/test_hidden.py",
        ),
        ("/workspace", "ROOT_DIR=. python3 -m pytest -q fixtures/test_hidden.py"),
        ("/workspace", "ROOT_DIR=. pytest -q fixtures/test_hidden.py"),
    ],
)
async def test_fault_5_planted_plugins_do_not_turn_failing_tests_into_passes(
    shop: Workshop, root: str, run_command: str
):
    shop.beside("fixtures/test_hidden.py", HIDDEN_TEST)
    check: dict[str, JsonValue] = {
        "kind": "command",
        "run": run_command,
        "files": {"/workspace/fixtures/test_hidden.py": "fixtures/test_hidden.py"},
    }
    task = make_task().model_copy(update={"artifact_roots": (root,)})
    planted = {
        "conftest.py": CONFTEST,
        "evil.py": CONFTEST,
        "pytest.py": "raise SystemExit(0)",
        "sitecustomize.py": "import os; os._exit(0)",
        "usercustomize.py": "import os; os._exit(0)",
        "pytest.ini": "[pytest]\naddopts = -p evil --co\n",
        "setup.cfg": "[tool:pytest]\naddopts = --co\n",
        "evil-1.0.dist-info/entry_points.txt": "[pytest11]\nevil = evil\n",
        "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    }
    for body, value in [("return x * 2", 1.0), ("return x * 3", 0.0)]:
        files = {**planted, "solution.py": f"def double(x):\n    {body}\n"}
        evidence = shop.evidence({f"{root}/{k}": v for k, v in files.items()}, task=task)
        verdict = await shop.verdict(check, evidence)
        result = verdict.lines[0].result
        assert result.value == value, result.reason


async def test_the_second_phase_of_a_cap_is_a_cap(shop: Workshop):
    rubric = one_line({"kind": "file", "path": "a"})
    rubric["caps"] = [
        {
            "id": "slow",
            "max": 0.5,
            "description": "prints a warning",
            "when": {
                "kind": "command",
                "run": "cat results/a",
                "then": {"kind": "text", "path": "stdout", "contains": ["warning"]},
            },
        }
    ]
    supervisor = shop.supervisor(rubric)
    assert (await supervisor.supervise(shop.evidence({"a": "ok"}), rounds_left=0)).score == 1.0
    noisy = await supervisor.supervise(shop.evidence({"a": "a warning"}), rounds_left=0)
    assert (noisy.score, noisy.caps_fired) == (0.5, ("slow",))
