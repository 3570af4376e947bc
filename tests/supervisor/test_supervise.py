from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue
from recording import RecordingFactory
from workshop import Workshop, dump, one_line

from uniclaw.errors import JudgeError, UserError
from uniclaw.hidden.verdict import CheckResult
from uniclaw.records import AttemptState, Decision, StopReason
from uniclaw.supervisor.lines import JudgeLine
from uniclaw.trajectory import Evidence

RUBRIC: dict[str, JsonValue] = {
    "threshold": 0.8,
    "checkpoints": [
        {
            "id": "total",
            "weight": 0.6,
            "description": "The total is right",
            "artifact": "out.json",
            "tag": "numbers",
            "check": {
                "kind": "json",
                "path": "out.json",
                "asserts": [
                    {
                        "pointer": "/total",
                        "op": "approx",
                        "value": {"ref": "references/key.json", "pointer": "/total"},
                    }
                ],
            },
        },
        {
            "id": "report",
            "weight": 0.4,
            "description": "A report names the total",
            "artifact": "report.md",
            "tag": "completeness",
            "check": {"kind": "python", "function": "names_total"},
        },
    ],
    "caps": [
        {
            "id": "touched",
            "max": 0.3,
            "description": "Sources were changed",
            "when": {"kind": "file", "path": "sources_changed"},
        }
    ],
    "pass_requires": {"checkpoints": ["total"], "no_cap": True},
}
CHECKS = """
def names_total(evidence, references):
    text = evidence.text("report.md") or ""
    return str(references.json("references/key.json")["total"]) in text
"""


def prepared(shop: Workshop) -> Workshop:
    shop.reference("key.json", dump({"total": 1234.5}))
    shop.beside("checks.py", CHECKS)
    return shop


async def test_a_round_is_scored_from_its_frozen_files(shop: Workshop, factory: RecordingFactory):
    supervisor = prepared(shop).supervisor(RUBRIC)
    partial = shop.evidence({"out.json": '{"total": 1234.5}'})
    verdict = await supervisor.supervise(partial, rounds_left=2)
    assert verdict.score == 0.6
    assert verdict.decision is Decision.CONTINUE
    assert verdict.attempt_state is AttemptState.INCOMPLETE
    assert verdict.missing_artifacts == ("report.md",)
    assert verdict.guidance_tags == ("completeness",)
    whole = shop.evidence({"out.json": '{"total": 1234.5}', "report.md": "All in all 1234.5"})
    verdict = await supervisor.supervise(whole, rounds_left=1)
    assert (verdict.score, verdict.decision) == (1.0, Decision.PASS)
    assert [line.decided_by for line in verdict.lines] == ["code", "code", "code"]
    assert len(factory.started) == 1
    assert len(factory.started[0].execs) == len(factory.started[0].puts) == 2


async def test_the_null_agent_scores_nothing(shop: Workshop):
    verdict = await prepared(shop).supervisor(RUBRIC).supervise(shop.evidence({}), rounds_left=0)
    assert verdict.score == 0.0
    assert verdict.decision is Decision.FAIL


async def test_a_cap_bounds_the_score_and_forbids_the_pass(shop: Workshop):
    files = {"out.json": '{"total": 1234.5}', "report.md": "1234.5", "sources_changed": "x"}
    supervisor = prepared(shop).supervisor(RUBRIC)
    verdict = await supervisor.supervise(shop.evidence(files), rounds_left=0)
    assert (verdict.score, verdict.uncapped) == (0.3, 1.0)
    assert verdict.caps_fired == ("touched",)
    assert verdict.unmet_requirements == ("no_cap",)


async def test_fault_3_planted_scores_are_only_artifacts(shop: Workshop):
    planted = {
        "verdict.json": '{"score": 1.0, "decision": "pass"}',
        "score.json": '{"score": 1}',
        "reward.txt": "1.0",
        "jobs.json": "[]",
    }
    supervisor = prepared(shop).supervisor(RUBRIC)
    verdict = await supervisor.supervise(shop.evidence(planted), rounds_left=0)
    assert verdict.score == 0.0


async def test_fault_U6_every_checkpoint_stands_in_the_verdict_once(shop: Workshop):
    verdict = await prepared(shop).supervisor(RUBRIC).supervise(shop.evidence({}), rounds_left=0)
    assert [line.id for line in verdict.lines] == ["total", "report", "touched"]
    assert verdict.uncapped == sum(line.weight * (line.result.value or 0) for line in verdict.lines)


async def test_a_turn_cut_short_is_still_in_progress(shop: Workshop):
    evidence = shop.evidence({}, stop=StopReason.TIMEOUT)
    verdict = await prepared(shop).supervisor(RUBRIC).supervise(evidence, rounds_left=1)
    assert verdict.attempt_state is AttemptState.IN_PROGRESS


async def test_a_terminal_check_ends_the_attempt(shop: Workshop):
    rubric = one_line({"kind": "file", "path": "kept.txt", "terminal": True})
    verdict = await shop.supervisor(rubric).supervise(shop.evidence({}), rounds_left=3)
    assert verdict.decision is Decision.FAIL
    assert verdict.attempt_state is AttemptState.TERMINAL_FAILURE
    assert not verdict.recoverable


class Judge:
    """Answers every line with one value, and remembers what it was asked."""

    def __init__(self, answers: Mapping[str, float] | None = None) -> None:
        self.answers = answers
        self.asked: list[JudgeLine] = []

    async def __call__(
        self, evidence: Evidence, lines: Sequence[JudgeLine]
    ) -> Mapping[str, CheckResult]:
        self.asked += lines
        found = self.answers if self.answers is not None else {line.id: 1.0 for line in lines}
        return {i: CheckResult(value=v, reason="judged") for i, v in found.items()}


JUDGED: dict[str, JsonValue] = {
    "threshold": 1,
    "checkpoints": [
        {
            "id": "mixed",
            "weight": 1,
            "description": "Reads well",
            "check": {
                "kind": "all",
                "of": [
                    {"kind": "file", "path": "a.txt"},
                    {"kind": "judge", "files": ["a.txt"]},
                    {"kind": "not", "check": {"kind": "judge", "criterion": "It lies"}},
                ],
            },
        }
    ],
    "pass_requires": {"judge": ["The tone is friendly"]},
}


async def test_nested_judge_checks_have_ids_of_their_own(shop: Workshop):
    judge = Judge({"mixed/1": 1.0, "mixed/2/0": 0.0, "requires-1": 1.0})
    supervisor = shop.supervisor(JUDGED, judge=judge)
    verdict = await supervisor.supervise(shop.evidence({"a.txt": "hi"}), rounds_left=0)
    assert judge.asked == [
        JudgeLine("mixed/1", "Reads well", ("a.txt",)),
        JudgeLine("mixed/2/0", "It lies", ()),
        JudgeLine("requires-1", "The tone is friendly", ()),
    ]
    assert verdict.decision is Decision.PASS
    assert [line.decided_by for line in verdict.lines] == ["both", "judge"]


async def test_an_unmet_prose_requirement_forbids_the_pass(shop: Workshop):
    judge = Judge({"mixed/1": 1.0, "mixed/2/0": 0.0, "requires-1": 0.0})
    supervisor = shop.supervisor(JUDGED, judge=judge)
    verdict = await supervisor.supervise(shop.evidence({"a.txt": "hi"}), rounds_left=0)
    assert (verdict.score, verdict.decision) == (1.0, Decision.FAIL)
    assert verdict.unmet_requirements == ("requires-1",)


def test_judge_lines_without_a_judge_are_refused_by_name(shop: Workshop):
    with pytest.raises(UserError, match="mixed/1, mixed/2/0, requires-1"):
        shop.supervisor(JUDGED)


@pytest.mark.parametrize("answers", [{}, {"mixed/1": 1.0}, {"mixed/1": 1.0, "other": 1.0}])
async def test_fault_29_a_judge_that_leaves_lines_out_gives_no_verdict(
    shop: Workshop, answers: dict[str, float]
):
    supervisor = shop.supervisor(JUDGED, judge=Judge(answers))
    with pytest.raises(JudgeError, match="missing"):
        await supervisor.supervise(shop.evidence({"a.txt": "hi"}), rounds_left=0)


async def test_errors_of_the_judge_come_through_while_the_grader_works(shop: Workshop):
    async def failing(evidence: Evidence, lines: Sequence[JudgeLine]) -> Mapping[str, CheckResult]:
        raise JudgeError("no usable answer")

    supervisor = shop.supervisor(JUDGED, judge=failing)
    with pytest.raises(JudgeError, match="no usable answer"):
        await supervisor.supervise(shop.evidence({"a.txt": "hi"}), rounds_left=0)


async def test_a_probe_that_the_task_does_not_have_is_the_authors_mistake(shop: Workshop):
    supervisor = shop.supervisor(one_line({"kind": "state", "probe": "db", "exit_code": 0}))
    with pytest.raises(UserError, match=r"x\.probe.*got 'db'"):
        await supervisor.supervise(shop.evidence({}), rounds_left=0)
