"""The overlay rubrics: what they grant, what they refuse, and how they compare with the rules."""

import json
import os
import re
from pathlib import Path
from typing import cast

import pytest
from overlay_bench import (
    ANOMALIES,
    CLUSTER,
    MERGE,
    REPOSITORY,
    SHORTLIST,
    SOLUTIONS,
    SUDOKU,
    TASKS,
    Bench,
    Work,
    benches,
    call,
    lost,
    tool_call,
    without_calls,
)
from overlay_cheats import CHEATS
from overlay_edits import Case, Form
from overlay_faults_101 import FAULTS_101
from overlay_faults_102 import FAULTS_102
from overlay_forms_101 import FORMS_101
from overlay_forms_102 import FORMS_102

from uniclaw.records import Decision
from uniclaw.suites.eval_rule import parse_rule

pytestmark = pytest.mark.reference
OVERLAYS = REPOSITORY / "rubrics" / "uniclawbench"
WITHHELD = 1.0
"""Bound of a cap that only withholds the pass."""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bench]:
    return benches(Path(os.environ["UNICLAW_REFERENCE_DATA"]), tmp_path_factory.mktemp("overlays"))


def changed(work: Work, case: Case | Form) -> Work:
    files = dict(work.files)
    case.change(files)
    return work._replace(files=files)


def named(case: Case | Form) -> str:
    return f"{case.task.split('_')[1]}_{case.task.split('_')[2]}-{case.name}".replace(" ", "_")


# --- solutions ---------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
async def test_the_last_round_of_a_solution_has_the_full_score(
    tasks: dict[str, Bench], task: str
) -> None:
    verdict = await tasks[task].judge(tasks[task].solved, apart=True)

    assert (verdict.score, verdict.decision) == (1.0, Decision.PASS), verdict.rationale
    assert not verdict.caps_fired
    assert not any(flag.startswith("check-error") for flag in verdict.flags)


@pytest.mark.parametrize("task", TASKS)
async def test_first_rounds_are_incomplete_except_for_the_puzzle(
    tasks: dict[str, Bench], task: str
) -> None:
    verdict = await tasks[task].judge(tasks[task].rounds[0])

    assert (verdict.decision is Decision.PASS) == (task == SUDOKU)
    assert verdict.score is not None
    assert verdict.score > 0


@pytest.mark.parametrize("task", TASKS)
async def test_doing_nothing_earns_nothing(tasks: dict[str, Bench], task: str) -> None:
    verdict = await tasks[task].judge(Work({}))

    assert verdict.score == 0
    assert verdict.decision is Decision.CONTINUE
    assert not any(flag.startswith("check-error") for flag in verdict.flags)


# --- what each line costs ----------------------------------------------------------------


@pytest.mark.parametrize("case", [*FAULTS_101, *FAULTS_102], ids=named)
async def test_one_fault_costs_its_own_lines(tasks: dict[str, Bench], case: Case) -> None:
    bench = tasks[case.task]

    verdict = await bench.judge(changed(bench.solved, case))

    assert lost(verdict) == set(case.lost), verdict.rationale
    assert set(verdict.caps_fired) == set(case.fired), verdict.rationale


async def test_a_missing_auxiliary_file_withholds_the_pass_and_lowers_nothing(
    tasks: dict[str, Bench],
) -> None:
    bench = tasks[ANOMALIES]
    files = {k: v for k, v in bench.solved.files.items() if k != "reproduce.sql"}

    verdict = await bench.judge(bench.solved._replace(files=files))

    assert verdict.score == pytest.approx(0.9)
    assert verdict.decision is Decision.CONTINUE


async def test_a_flawed_auxiliary_file_does_not_withhold_the_pass(tasks: dict[str, Bench]) -> None:
    bench = tasks[ANOMALIES]
    files = {**bench.solved.files, "reproduce.sql": "SELECT 1;"}

    verdict = await bench.judge(bench.solved._replace(files=files))

    assert verdict.score == pytest.approx(0.9)
    assert verdict.decision is Decision.PASS


@pytest.mark.parametrize("task", [ANOMALIES, MERGE])
async def test_an_unread_skill_costs_its_line_and_cap(tasks: dict[str, Bench], task: str) -> None:
    bench = tasks[task]

    verdict = await bench.judge(without_calls(bench.solved, "SKILL.md"))

    assert verdict.caps_fired == ("no_skill",)
    assert lost(verdict) == ({"skill"} if task == ANOMALIES else set())


async def test_naming_a_parser_without_running_anything_earns_nothing(
    tasks: dict[str, Bench],
) -> None:
    work = tasks[CLUSTER].solved._replace(events=tuple(call(0, "cat base/configmap.yaml")))

    verdict = await tasks[CLUSTER].judge(work)

    assert lost(verdict) == {"method"}


async def test_reading_by_eye_and_missing_a_conflict_is_capped(tasks: dict[str, Bench]) -> None:
    bench = tasks[CLUSTER]
    files = {**bench.solved.files, "yaml_method.json": '{"method": "read by eye"}'}
    conflicts = json.loads(files["yaml_conflicts.json"])
    files["yaml_conflicts.json"] = json.dumps([c for c in conflicts if "type-of" not in c["id"]])

    verdict = await bench.judge(Work(files))

    assert verdict.caps_fired == ("eyeballed",)


# --- other forms and cheats --------------------------------------------------------------


@pytest.mark.parametrize("form", [*FORMS_101, *FORMS_102], ids=named)
async def test_other_forms_of_a_right_answer_keep_the_full_score(
    tasks: dict[str, Bench], form: Form
) -> None:
    bench = tasks[form.task]

    verdict = await bench.judge(changed(bench.solved, form))

    assert (verdict.score, verdict.caps_fired) == (1.0, ()), verdict.rationale


@pytest.mark.parametrize("cheat", CHEATS, ids=named)
async def test_cheats_do_not_pass(tasks: dict[str, Bench], cheat: Form) -> None:
    bench = tasks[cheat.task]

    verdict = await bench.judge(changed(bench.solved, cheat))

    assert verdict.score is not None
    assert verdict.decision is not Decision.PASS


async def test_copied_sources_do_not_pass(tasks: dict[str, Bench]) -> None:
    for task, bench in tasks.items():
        copies = {n: next(iter(bench.bundle.sources.values())) for n in bench.solved.files}
        files = {n: p.read_text("utf-8") for n, p in copies.items()}
        verdict = await bench.judge(bench.solved._replace(files=files))
        assert verdict.score is not None, task
        assert verdict.score < 0.5, task


_HOSTILE = (
    "[" * 5000 + "]" * 5000,
    "null",
    "[null, 1, [], {}, [[[]]], true]",
    '{"a": {"b": [null, {"c": NaN}]}, "order_id": [], "id": {"id": {}}}',
    "\x00\x01\udcff\udcfe",
    '"' + "9" * 6000 + '"',
    "9" * 6000,
    'a,b\n"unclosed',
    "order_id,customer_id\r1,2\r",
    "x" * 300_000,
)


@pytest.mark.parametrize("task", TASKS)
async def test_no_content_breaks_a_check(tasks: dict[str, Bench], task: str) -> None:
    bench = tasks[task]
    for text in _HOSTILE:
        verdict = await bench.judge(Work(dict.fromkeys(bench.solved.files, text)))
        assert verdict.score is not None, (text[:40], verdict.reason)
        assert not [f for f in verdict.flags if f.startswith("check-error")], text[:40]


# --- the trajectory ----------------------------------------------------------------------

_SKILL = "/root/skills/sql-toolkit"
_READS = (
    f"cat {_SKILL}/SKILL.md",
    "cd /root/skills && head -50 sql-toolkit/SKILL.md",
    "cat /root/skills/*/SKILL.md",
    "for s in sql-toolkit other; do cat /root/skills/$s/SKILL.md; done",
    f"D={_SKILL}\nsed -n 1,80p $D/SKILL.md 2>/dev/null | less",
    "find /root/skills -name SKILL.md -exec cat {} +",
    f"python3 - <<'EOF'\nprint(open('{_SKILL}/SKILL.md').read())\nEOF",
    f"bash -lc 'cat {_SKILL}/SKILL.md'",
    f"grep -rn SELECT {_SKILL}",
)
_MENTIONS = (
    f"echo cat {_SKILL}/SKILL.md",
    f"ls -l {_SKILL}",
    f"cat > notes.md <<'EOF'\ncat {_SKILL}/SKILL.md\nEOF",
    f"# cat {_SKILL}/SKILL.md",
    f"cat {_SKILL}/SKILL.md > /dev/null",
    "cat /root/skills/another/SKILL.md",
    f"test -f {_SKILL}/SKILL.md",
)
_FETCHES = (
    "curl -s https://example.org/x",
    "pip install pyyaml",
    "cd /tmp; git clone https://example.org/a.git",
    "python3 -c 'import urllib.request as u; u.urlopen(\"http://example.org\")'",
    "sudo apt-get -y install jq",
)
_NO_FETCHES = (
    "echo 'no curl https://example.org was run'",
    "which curl wget",
    "curl --version",
    "curl http://localhost:8080/health",
    "git status && pip list",
    'cat > m.json <<\'EOF\'\n{"note": "did not pip install anything"}\nEOF',
)


@pytest.mark.parametrize(
    ("command", "reads"), [*((c, True) for c in _READS), *((c, False) for c in _MENTIONS)]
)
async def test_a_skill_is_read_by_reading_not_by_mention(
    tasks: dict[str, Bench], command: str, reads: bool
) -> None:
    verdict = await tasks[ANOMALIES].judge(Work({}, tuple(call(0, command))))

    assert ("skill" not in lost(verdict)) == reads
    assert ("no_skill" in verdict.caps_fired) != reads


async def test_a_read_that_failed_is_none(tasks: dict[str, Bench]) -> None:
    events = call(
        0, f"cat {_SKILL}/README.md", f"cat: {_SKILL}/README.md: No such file or directory"
    )

    assert "skill" in lost(await tasks[ANOMALIES].judge(Work({}, tuple(events))))


async def test_a_reading_tool_counts_and_a_writing_tool_does_not(tasks: dict[str, Bench]) -> None:
    path = f"{_SKILL}/SKILL.md"
    for tool, counts in (("read_file", True), ("Read", True), ("write_file", False)):
        events = tool_call(0, tool, {"path": path, "content": "x"})
        assert (
            "skill" not in lost(await tasks[ANOMALIES].judge(Work({}, tuple(events))))
        ) == counts


@pytest.mark.parametrize("task", [CLUSTER, SHORTLIST])
async def test_reaching_for_the_network_is_capped(tasks: dict[str, Bench], task: str) -> None:
    work = tasks[task].solved
    for command in _FETCHES:
        fetched = await tasks[task].judge(work._replace(events=(*work.events, *call(900, command))))
        assert (fetched.score, fetched.caps_fired) == (0.3, ("network",)), command
    for command in _NO_FETCHES:
        verdict = await tasks[task].judge(work._replace(events=(*work.events, *call(900, command))))
        assert not verdict.caps_fired, command


# --- the overlays as files ---------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_weights_and_bounds_are_those_of_the_rule(tasks: dict[str, Bench], task: str) -> None:
    bundle = tasks[task].bundle
    rule = parse_rule((bundle.root / "references/eval_rule.md").read_text("utf-8"))
    rubric = bundle.load_rubric().rubric

    assert [c.weight for c in rubric.checkpoints] == [c.weight for c in rule.checkpoints]
    ours = sorted(c.max for c in rubric.caps if c.max < WITHHELD)
    assert ours == sorted(c.max for c in rule.caps)
    assert rubric.threshold == 0.9


def test_the_trajectory_checks_are_the_same_everywhere() -> None:
    copies = {p.read_text("utf-8") for p in OVERLAYS.glob("*/calls.py")}

    assert len(copies) == 1


@pytest.mark.parametrize("task", [MERGE, CLUSTER])
def test_no_answer_stands_in_our_files(tasks: dict[str, Bench], task: str) -> None:
    """Of the tasks whose reference file holds telling values (the others': counts, digits, ids)."""
    bundle = tasks[task].bundle
    truth = json.loads((bundle.root / "references/ground_truth.json").read_text("utf-8"))
    answers = set(_answers(truth))
    ours = [*(OVERLAYS / task).glob("*.*"), *(SOLUTIONS / task).iterdir()]
    ours += Path(__file__).parent.glob("*.py")
    texts = {p: p.read_text("utf-8") for p in ours}

    assert len(answers) > 3
    assert not [(p.name, a) for p, text in texts.items() for a in answers if a in text]


def _answers(node: object) -> list[str]:
    """Ids, amounts and image tags of a reference file, told by their form."""
    if isinstance(node, dict):
        return [a for value in cast("dict[str, object]", node).values() for a in _answers(value)]
    if isinstance(node, list):
        return [a for value in cast("list[object]", node) for a in _answers(value)]
    telling = re.fullmatch(r"[A-Z]{1,3}-?\d{4,}|\d+\.\d\d|[\w./-]+:(\d[\w.-]+)", str(node))
    return [telling[1] or telling[0]] if telling else []
