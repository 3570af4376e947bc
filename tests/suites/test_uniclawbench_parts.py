"""Imported services, set-up scripts and statuses."""

from dataclasses import replace

import pytest
from suite_makers import Checkout

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import Outcome, TaskId
from uniclaw.runner.left_out import leave_out, told
from uniclaw.suites import load_suite
from uniclaw.suites.bundle import Suite, TaskBundle
from uniclaw.suites.uniclawbench_status import reference_result

INSTALLER = {"name": "tools", "start": "bash install.sh", "oneshot": True}
BACKGROUND = {"name": "board", "start": "python3 server.py"}


def load(checkout: Checkout, **options: bool) -> Suite:
    snapshot = options.get("snapshot", False)
    return load_suite(checkout.uri, assets=Assets(roots=()), snapshot=snapshot)


def one(checkout: Checkout, **options: bool) -> TaskBundle:
    (bundle,) = load(checkout, **options).tasks
    return bundle


def found(bundle: TaskBundle) -> set[tuple[str, str]]:
    return {(f.severity, f.code) for f in bundle.findings}


def test_installers_run_inside_and_background_services_beside(checkout: Checkout) -> None:
    checkout.task(services=[INSTALLER, BACKGROUND])
    checkout.put("services/tools/install.sh", "echo hello\n")
    checkout.put("services/board/server.py", "print()\n")
    bundle = one(checkout)
    assert bundle.runnable
    (spec,) = bundle.sidecars
    assert (spec.name, spec.port, spec.image) == ("board", None, "office")
    assert spec.command == ("/bin/sh", "-c", "cd /service/program && python3 server.py")
    assert spec.files == {"/service/program": checkout.injection / "services" / "board"}
    assert set(bundle.services) == {"tools", "board"}
    assert ("warning", "background-service") in found(bundle)


def test_a_set_up_script_runs_where_it_is_shipped(checkout: Checkout) -> None:
    checkout.task(pre_exec=["ops/populate.py"])
    assert ("error", "pre-exec") in found(one(checkout))
    script = checkout.put("ops/populate.py", "print('ready')\n")
    bundle = one(checkout)
    assert bundle.setup == {"ops/populate.py": script}
    assert bundle.runnable
    checkout.put("ops/populate.py", "import urllib.request\n")
    assert one(checkout).task.network == "open"
    assert ("error", "needs-network") in found(one(checkout))


def test_a_snapshot_needs_no_set_up_of_live_services(checkout: Checkout) -> None:
    checkout.put(".privacy", "SNAPSHOT_MODE\n")
    checkout.task(pre_exec=["ops/populate.py"], task_snapshot="Read n.csv; write report.md")
    bundle = one(checkout, snapshot=True)
    assert bundle.runnable
    assert (bundle.setup, bundle.task.network) == ({}, "none")


def test_tasks_that_cannot_run_are_left_out_of_a_pattern_and_refused_by_name(
    checkout: Checkout,
) -> None:
    checkout.task(sources=["gone.csv"])
    suite = load(checkout)
    with pytest.raises(UserError, match=r"(?s)none of these.*missing-source: sources/gone\.csv"):
        leave_out(suite, ("*sum*",))
    kept, out = leave_out(suite, ("task_101_99_sum",))
    assert (kept, out) == (suite, {})
    checkout.task()
    runnable = one(checkout)
    other = runnable.task.model_copy(update={"task_id": TaskId("other")})
    both = (*suite.tasks, replace(runnable, task=other))
    kept, out = leave_out(replace(suite, tasks=both), ("*",))
    assert [b.task_id for b in kept.tasks] == ["other"]
    assert next(told(out)).startswith("left out: task_101_99_sum: missing-source")


@pytest.mark.parametrize(
    ("outcome", "best", "completed", "status"),
    [
        (Outcome.PASS, 0.95, True, "pass"),
        (Outcome.ROUNDS_EXHAUSTED, 0.5, True, "budget_exhausted"),
        (Outcome.ROUNDS_EXHAUSTED, 0.92, True, "pass"),
        (Outcome.FAIL, 0.92, True, "fail"),
        (Outcome.TIMEOUT, 0.2, False, "global_timeout"),
        (Outcome.TIMEOUT, 0.9, False, "pass"),
        (Outcome.EXECUTOR_INCOMPLETE, 0.0, False, "executor_incomplete"),
        (Outcome.EXECUTOR_INCOMPLETE, 0.4, True, "budget_exhausted"),
        (Outcome.RATE_LIMITED, None, False, "rate_limit"),
        (Outcome.INFRA_ERROR, None, False, "infra_error"),
        (Outcome.ENVIRONMENT_LOST, 0.95, True, "infra_error"),
        (Outcome.JUDGE_ERROR, None, True, "infra_error"),
    ],
)
def test_outcomes_have_a_status_of_the_reference(
    outcome: Outcome, best: float | None, completed: bool, status: str
) -> None:
    result = reference_result(outcome, None, best_score=best, threshold=0.9, completed=completed)
    assert result.status == status
    assert result.passed == (status == "pass")
    assert result.on_leaderboard == (
        status in {"pass", "budget_exhausted", "fail", "global_timeout"}
    )


def test_a_failed_set_up_has_a_status_of_its_own() -> None:
    said = "InfraError: task set-up 'ops/populate.py' ended with 1: no"
    result = reference_result(
        Outcome.INFRA_ERROR, said, best_score=None, threshold=None, completed=False
    )
    assert result.status == "pre_exec_failed"


def test_every_outcome_has_a_status() -> None:
    for outcome in Outcome:
        reference_result(outcome, None, best_score=None, threshold=None, completed=True)
