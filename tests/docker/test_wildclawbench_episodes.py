"""WildClawBench tasks in live containers: graders run apart, and break for their own task alone."""

import json
from pathlib import Path

import pytest
from player import only, run
from wild_maker import ECHO, task_text, write_wild

from uniclaw.assets import Assets, default_roots
from uniclaw.environments import create_factory
from uniclaw.errors import TaskRefused
from uniclaw.hidden.program import GraderProgram
from uniclaw.ports import Limits
from uniclaw.records import Manifest, Outcome, StopReason, Task, TaskId, Turn
from uniclaw.supervisor.wild_grader import WildGrader
from uniclaw.trajectory import Evidence

pytestmark = pytest.mark.docker
BAD = {
    "raises": "raise RuntimeError('no')",
    "nan": "return {'overall_score': float('nan')}",
    "string": "return {'overall_score': 'good'}",
    "none": "return {'a': 1.0}",
    "garbage": "import os; os.write(1, b'{}'); os._exit(3)",
}


def test_bad_graders_end_their_own_episode_with_a_reason(tmp_path: Path) -> None:
    for name, body in BAD.items():
        grader = f"def grade(**kwargs):\n    {body}"
        write_wild(tmp_path, task_text(grader=grader, name=name), name=name)
    write_wild(tmp_path, task_text(name="good"), name="good")
    reads = ECHO.replace("results/n.json", "gt/truth.txt")
    write_wild(tmp_path, task_text(grader=reads, name="nogt"), name="nogt")
    uri = f"wildclawbench:{tmp_path}"
    played = run(uri, tmp_path / "runs", environment="docker", executor=["oracle"], parallel=2)
    found = {r.task_id.rsplit("_", 1)[-1]: r for r in played.records}
    assert found.pop("good").outcome is Outcome.PASS
    assert {r.outcome for r in found.values()} == {Outcome.INFRA_ERROR}
    assert {r.attempt for r in found.values()} == {1}
    reasons = {name: r.reason or "" for name, r in found.items()}
    for name, word in (("raises", "RuntimeError: no"), ("nan", "nan"), ("string", "a str")):
        assert word in reasons[name]
    assert "no overall_score" in reasons["none"]
    assert "exit code 3" in reasons["garbage"]
    assert "gt: missing" in reasons["nogt"]


def test_what_breaks_the_grader_alone_counts_against_the_agent(tmp_path: Path) -> None:
    step = "mkdir -p results gt; echo '{' > results/n.json; echo 1 > gt/truth.txt"
    write_wild(tmp_path, step=step)
    played = run(
        f"wildclawbench:{tmp_path}",
        tmp_path / "runs",
        environment="docker",
        executor=["oracle"],
        feedback_rounds=0,
    )
    record = only(played)
    assert (record.outcome, record.final_score) == (Outcome.FAIL, 0.0)
    assert {"check-error:overall_score", "agent-wrote-gt"} <= set(record.flags)


JUDGED = """import json, os, re

def grade(**kwargs):
    from openai import OpenAI
    client = OpenAI(
        api_key=os.environ["OPENROUTER_API_KEY"], base_url=os.environ["OPENROUTER_BASE_URL"]
    )
    answer = client.chat.completions.create(
        model=os.environ["JUDGE_MODEL"], temperature=0,
        messages=[{"role": "user", "content": "Rate the work from 0 to 1 as JSON."}],
    )
    told = json.loads(answer.choices[0].message.content)
    return {"rated": told["score"], "uid": os.getuid(), "overall_score": told["score"]}
"""


def test_a_graders_judge_call_goes_through_the_gateway(tmp_path: Path) -> None:
    write_wild(tmp_path, task_text(grader=JUDGED))
    script = tmp_path / "judge.yaml"
    script.write_text("rules:\n  - when: {}\n    reply: {text: '{\"score\": 0.95}'}\n")
    played = run(
        f"wildclawbench:{tmp_path}",
        tmp_path / "runs",
        environment="docker",
        executor=["oracle"],
        supervisor=[f"scripted/{script}"],
    )
    record = only(played)
    assert record.outcome is Outcome.PASS, record.reason
    verdict = record.rounds[-1].verdict
    assert verdict is not None
    assert json.loads(verdict.model_dump_json())["criteria"]["uid"] == 1000
    assert record.usage["judge"].calls == 1


def test_fault_8_an_idle_agent_earns_nothing_by_doing_no_harm(
    repository: Path, tmp_path: Path
) -> None:
    played = run(
        f"wildclawbench:{repository / 'tests' / 'wildclawbench'}",
        tmp_path / "runs",
        environment="docker",
        executor=["oracle", "null"],
        tasks=["03_*", "06_*"],
        feedback_rounds=0,
        parallel=2,
    )
    found = {(r.task_id[:2], r.axes.executor): r for r in played.records}
    assert found["06", "null"].final_score == found["03", "null"].final_score == 0.0
    assert found["06", "oracle"].outcome is found["03", "oracle"].outcome is Outcome.PASS


async def test_a_grader_that_hangs_is_stopped_at_its_limit(tmp_path: Path) -> None:
    factory = create_factory("docker", assets=Assets(default_roots(None)), run="wild-hang")
    grader = WildGrader(factory=factory, image="base", limits=Limits(), labels={}, open_judge=None)
    program = GraderProgram(
        source="def grade(**k):\n    while True: pass", workspace="/tmp_workspace", timeout_s=1
    )
    task = Task(
        task_id=TaskId("t"), suite="s", instruction="x", family="t", workspace="/tmp_workspace"
    )
    turn = Turn(stop=StopReason.FINISHED, events=(), final_message="", executor_s=0)
    evidence = Evidence(round=0, task=task, files_root=tmp_path, manifest=Manifest(), turns=(turn,))
    with pytest.raises(TaskRefused, match="did not end within 1 s"):
        await grader.grade(program, evidence)
