"""Real harness programs play whole episodes of the office suite, and mend their work when told.

The model is the shipped script, served by the gateway over the API that each program speaks. One
harness: `pytest tests/harness_suite -k 'codex and episode'`.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from conftest import REPOSITORY
from harness_suite.rosters import HEAVY, QUICK, image_with
from player import only, run

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.engine import connect
from uniclaw.environments.images import Images
from uniclaw.environments.labels import RUN
from uniclaw.records import Event, EventKind, Outcome
from uniclaw.runner.start import RunResult
from uniclaw.store.records import EpisodeRecord
from uniclaw.store.run_store import RunStore

pytestmark = [pytest.mark.docker, pytest.mark.timeout(1800)]

OFFICE = REPOSITORY / "examples" / "office"
ALL = (*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in HEAVY))
SLOW = tuple(pytest.param(name, marks=pytest.mark.slow) for name in (*QUICK[1:], *HEAVY))


@pytest.fixture(autouse=True)
def nothing_is_left(unique: str) -> Generator[None, None, None]:
    yield
    api = connect()
    try:
        assert not api.containers(all=True, filters={"label": f"{RUN}={unique}"})
    finally:
        api.close()


def played(harness: str, runs: Path, name: str, **given: object) -> RunResult:
    image_with(harness, Images(Assets(default_roots(None, environ={}, cwd=REPOSITORY))))
    return run(
        OFFICE,
        runs,
        run=name,
        environment="docker",
        tasks="expense_skill_en",
        executor=f"{harness}:scripted/{OFFICE / 'model.yaml'}",
        **{"user_simulator": f"scripted/{OFFICE / 'simulator.yaml'}", **given},
    )


def scores(record: EpisodeRecord) -> list[float | None]:
    return [r.verdict.score for r in record.rounds if r.verdict is not None]


@pytest.mark.parametrize("harness", ALL)
def test_a_harness_mends_its_work_when_the_feedback_says_what(
    harness: str, tmp_path: Path, unique: str
) -> None:
    result = played(harness, tmp_path, unique)
    record = only(result)
    assert record.outcome is Outcome.PASS, record.reason
    assert scores(record) == pytest.approx([0.6, 0.75, 1.0])
    assert record.usage["executor"].calls > 0
    with RunStore.open(result.root) as store:
        directory = store.episode_dir(record.episode_id)
    lines = (directory / "trajectory.jsonl").read_text(encoding="utf-8").splitlines()
    events = [Event.model_validate_json(line) for line in lines]
    for number in range(len(record.rounds)):
        mine = [e for e in events if e.round == number]
        calls = {e.call_id for e in mine if e.kind is EventKind.TOOL_CALL}
        results = {e.call_id for e in mine if e.kind is EventKind.TOOL_RESULT}
        assert calls
        assert calls == results
        assert record.rounds[number].final_message


@pytest.mark.parametrize("harness", [QUICK[0], *SLOW])
def test_a_harness_fails_when_the_feedback_is_withheld(
    harness: str, tmp_path: Path, unique: str
) -> None:
    result = played(harness, tmp_path, unique, firewall="sealed", user_simulator="template")
    record = only(result)
    assert record.outcome is not Outcome.PASS
    assert scores(record) == pytest.approx([0.6] * len(record.rounds))
