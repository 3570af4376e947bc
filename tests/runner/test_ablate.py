"""Ablations end to end: nested episodes, planted effects and leaks, and what is concluded."""

import random
from pathlib import Path

import pytest
from player import Quiet, run
from pydantic import JsonValue
from suite_builder import write_script, write_task

from uniclaw.errors import UserError
from uniclaw.records import Outcome
from uniclaw.runner.ablate import nested_settings
from uniclaw.runner.resume import resume
from uniclaw.runner.start import RunResult
from uniclaw.statistics.ablation import AblationOptions, AblationReport
from uniclaw.statistics.ablation_run import report_of, write
from uniclaw.store.run_store import RunStore

TASKS = 12
SECRET = "the ledger of the harbour office"


def shell(command: str) -> dict[str, JsonValue]:
    return {"tool_calls": [{"name": "shell", "arguments": {"command": command}}]}


def executor(path: Path, mending: list[int]) -> str:
    """Mends what feedback names, on the tasks that a generator drew."""
    names = "|".join(f"boats {number}[.]" for number in mending) or "nothing at all"
    rules: list[dict[str, JsonValue]] = [
        {"when": {"last_role": "tool"}, "reply": {"text": "Written."}},
        {
            "when": {"last_user": "harbour office", "seen": f"({names})", "last_role": "user"},
            "reply": shell("echo '{\"n\": 3}' > results/out.json"),
        },
        {"when": {"last_role": "user"}, "reply": shell("echo '{\"n\": 4}' > results/out.json")},
    ]
    return write_script(path, rules)


def teller(path: Path, *, leak: bool) -> str:
    """Tells as much as its view holds; with a leak also a name that no policy releases."""
    more = " Orsolya Vantongeren keeps it." if leak else ""
    named: dict[str, JsonValue] = {"message": f"It must agree with {SECRET}.{more}"}
    plain: dict[str, JsonValue] = {"message": "Please look at it once more."}
    return write_script(
        path,
        [
            {"when": {"purpose": "user_simulator", "seen": SECRET}, "reply": {"json": named}},
            {"when": {"purpose": "user_simulator"}, "reply": {"json": plain}},
        ],
    )


def ablate(
    tmp_path: Path, mending: list[int], tasks: int = TASKS, *, leak: bool = False
) -> RunResult:
    suite = tmp_path / "suite"
    for number in range(tasks):
        text = f"Count boats {number}. Write results/out.json."
        write_task(
            tmp_path,
            task_id=f"t{number}",
            task={"instruction": text, "budget": {"turn_s": 60, "feedback_rounds": 1}},
        )
    return run(
        suite,
        tmp_path / "runs",
        executor=(f"loop:{executor(tmp_path / 'model.yaml', mending)}",),
        user_simulator=(teller(tmp_path / "user.yaml", leak=leak),),
        firewall=("sealed", "coarse", "open"),
        model_in_process=True,
        nested=True,
    )


def change(report: AblationReport, arm: str) -> tuple[float, float, float]:
    effects = next(a for a in report.arms if a.name == arm).effects
    found = next(e for e in effects if (e.measure, e.scope) == ("pass", "overall")).difference
    assert found.value is not None
    assert found.ci is not None
    return found.value, *found.ci


def test_a_planted_leak_is_found_and_what_it_buys_is_what_was_planted(tmp_path: Path) -> None:
    rng = random.Random(41)
    share = rng.uniform(0.5, 0.8)
    mending = [n for n in range(TASKS) if rng.random() < share]
    result = ablate(tmp_path, mending, leak=True)
    assert result.exit_code == 0
    report = report_of(result.root, AblationOptions(resamples=2_000))
    assert (report.states, report.failing_states) == (TASKS, TASKS)
    value, low, high = change(report, "open")
    assert value == pytest.approx(len(mending) / TASKS)
    assert 0 < low <= share <= high
    assert change(report, "sealed")[0] == 0
    leaks = {arm.name: arm.leak for arm in report.arms}
    assert leaks["open"] is not None
    assert leaks["open"].leaking == leaks["open"].messages == TASKS
    assert leaks["open"].above_base is True
    told = write(report, result.root)
    assert "worth something beyond doubt" in str(told["words"])
    assert (result.root / "ablation.svg").read_text(encoding="utf-8").startswith("<svg")
    by_state: dict[str, set[str]] = {}
    for record in result.records:
        by_state.setdefault(record.task_id, set()).add(record.rounds[0].final_message)
        if record.parent is not None:
            assert record.parent_round == 0
    assert all(len(messages) == 1 for messages in by_state.values())


def test_a_clean_run_is_not_accused(tmp_path: Path) -> None:
    result = ablate(tmp_path, [], tasks=3)
    report = report_of(result.root, AblationOptions(resamples=500))
    for arm in ("sealed", "neutral", "no-feedback", "open"):
        value, low, high = change(report, arm)
        assert value == 0
        assert low <= 0 <= high
    for arm in report.arms:
        assert arm.leak is not None
        assert (arm.leak.leaking, arm.leak.above_base) == (0, False)
    words = str(write(report, result.root)["words"])
    assert "worth" not in words
    assert "No delivered message held anything that its policy hides." in words


def test_an_ablation_is_resumed_from_the_same_states(tmp_path: Path) -> None:
    result = ablate(tmp_path, [0, 1], tasks=2)
    with RunStore.open(result.root, write=True) as store:
        assert store.reopen(Outcome.PASS.value)
    again, _ = resume(result.root, environ={}, notify=lambda _: None, watch=lambda _: Quiet())
    assert again.exit_code == 0
    assert len(again.records) == again.planned == 2 * 6
    assert change(report_of(result.root, AblationOptions(resamples=500)), "open")[0] == 1.0


def test_what_no_ablation_can_compare_is_refused() -> None:
    with pytest.raises(UserError, match="coarse"):
        nested_settings({"firewall": "sealed,open"}, "coarse")
    with pytest.raises(UserError, match="expected one"):
        nested_settings({"executor": "oracle,null"}, "coarse")
    assert "rationale" in str(nested_settings({}, "coarse")["firewall"])
