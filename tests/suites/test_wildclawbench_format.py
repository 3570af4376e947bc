"""WildClawBench task files by their own rules, hostile ones too, and what graders' sources say."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wild_maker import CATEGORY, ECHO, task_text, write_wild

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.suites.bundle import Suite
from uniclaw.suites.uniclawbench_resources import Given
from uniclaw.suites.wildclawbench import load_wildclawbench
from uniclaw.suites.wildclawbench_format import parse_task, split_sections, unfenced
from uniclaw.suites.wildclawbench_grader import inspect_grader, kind_of_warmup

Load = Callable[..., Suite]


@pytest.fixture
def load(tmp_path: Path, no_assets: Assets) -> Load:
    def do(text: str | None = None, *, gt: str | None = None, known: tuple[str, ...] = ()) -> Suite:
        write_wild(tmp_path, text, gt=gt)
        return load_wildclawbench(
            tmp_path, uri="wildclawbench:x", assets=no_assets, given=Given(frozenset(known))
        )

    return do


def codes(suite: Suite) -> set[str]:
    return {finding.code for bundle in suite.tasks for finding in bundle.findings}


def test_prompt_alone_is_public_and_the_workspace_is_laid_out_as_theirs(load: Load) -> None:
    bundle = load(gt="secret").tasks[0]
    assert bundle.task.task_id == f"{CATEGORY}_task_1_a"
    assert bundle.task.workspace == bundle.task.sources_dir == "/tmp_workspace"
    assert set(bundle.sources) == {"input.txt"}
    assert bundle.task.budget.turn_s == 60
    assert "The number one." not in bundle.task.model_dump_json()
    program = bundle.load_rubric().program
    assert program is not None
    assert set(program.hidden) == {"gt/truth.txt"}


def test_missing_timeout_and_id_take_their_defaults(tmp_path: Path) -> None:
    file = tmp_path / CATEGORY / "x_task_1_b.md"
    file.parent.mkdir()
    file.write_text(task_text(front="").replace(f"id: {CATEGORY}_task_1_a\n", "name: b\n"))
    task = parse_task(file)
    assert (task.task_id, task.keys.timeout_seconds) == ("x_task_1_b", 120)
    assert task.category == CATEGORY


def test_a_heading_inside_a_fence_cuts_the_grader_and_is_reported(load: Load) -> None:
    cut = ECHO.replace("    return", "## not a section\n    return")
    suite = load(task_text(grader=cut))
    assert "heading-in-fence" in codes(suite)


def test_a_grader_that_does_not_parse_ends_its_own_episodes_alone(load: Load) -> None:
    bundle = load(task_text(grader="def grade(:")).tasks[0]
    assert not bundle.runnable
    assert {f.code for f in bundle.findings if f.severity == "error"} == {"refused"}


def test_a_missing_gt_that_the_grader_reads_is_refused_with_its_place(load: Load) -> None:
    reads = ECHO.replace("results/n.json", "gt/truth.txt")
    bundle = load(task_text(grader=reads)).tasks[0]
    errors = [f for f in bundle.findings if f.severity == "error"]
    assert [f.code for f in errors] == ["refused"]
    assert "gt: missing" in errors[0].message


def test_judge_variables_are_never_the_agents(load: Load) -> None:
    text = task_text(env="OPENROUTER_API_KEY\nMAP_TOKEN")
    bundle = load(text, known=("OPENROUTER_API_KEY",)).tasks[0]
    assert bundle.variables == ("MAP_TOKEN",)
    assert "needs-credentials" in {f.code for f in bundle.findings}
    assert load(text, known=("MAP_TOKEN",)).tasks[0].runnable


def test_a_warmup_that_installs_asks_for_the_network(load: Load) -> None:
    assert load(task_text(warmup="# note\npip install x")).tasks[0].task.network == "open"
    assert load(task_text(warmup="mkdir -p results")).tasks[0].task.network == "none"
    assert kind_of_warmup("python3 server.py &") == "background"
    assert kind_of_warmup("curl -s http://localhost:9/x") == "plain"


def test_an_empty_workspace_path_is_a_mistake_of_the_file(load: Load) -> None:
    text = task_text().replace(f"workspace/{CATEGORY}/task_1_a", "")
    with pytest.raises(UserError, match="Workspace Path"):
        load(text)


@pytest.mark.parametrize("path", ["../outside", "/etc", "a/../../b"])
def test_paths_that_leave_the_checkout_are_refused(load: Load, path: str) -> None:
    with pytest.raises(UserError, match="relative path"):
        load(task_text().replace(f"workspace/{CATEGORY}/task_1_a", path))


def test_a_broken_file_that_is_not_selected_is_no_hindrance(
    tmp_path: Path, no_assets: Assets
) -> None:
    write_wild(tmp_path)
    (tmp_path / "tasks" / CATEGORY / "z_task_2_broken.md").write_text("no frontmatter")
    suite = load_wildclawbench(tmp_path, uri="w", assets=no_assets, globs=[f"{CATEGORY}_task_1_a"])
    assert len(suite.tasks) == 1
    with pytest.raises(UserError, match="frontmatter"):
        load_wildclawbench(tmp_path, uri="w", assets=no_assets)


WORDS = (
    "---|## Prompt|##|## |```|```python|`````|a: [|&a *a|\x00|## Workspace Path|../x|text||\u2028"
    "|\ufeff|~~~|## Prompt\r"
)
PIECES = st.lists(st.sampled_from(WORDS.split("|")) | st.text(max_size=20), max_size=40).map(
    "\n".join
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(body=PIECES, framed=st.booleans())
def test_hostile_markdown_is_a_task_or_a_user_error(
    tmp_path: Path, body: str, framed: bool
) -> None:
    file = tmp_path / CATEGORY / "h_task_1_x.md"
    file.parent.mkdir(exist_ok=True)
    text = f"---\nid: x\n---\n{body}" if framed else body
    file.write_bytes(text.encode("utf-8", "replace"))
    try:
        task = parse_task(file)
    except UserError as error:
        named = error.file
    else:
        assert task.prompt
        assert ".." not in task.workspace.split("/")
        named = str(file)
    assert named == str(file)


@given(body=PIECES)
def test_sections_and_fences_never_invent_text(body: str) -> None:
    sections, _ = split_sections(body)
    assert all(text in body for text in sections.values())
    assert set(unfenced(body).split("\n")) <= {*body.strip().split("\n"), ""}


def test_blank_lines_cost_no_quadratic_time(tmp_path: Path) -> None:
    file = tmp_path / CATEGORY / "h_task_1_x.md"
    file.parent.mkdir()
    file.write_text("---" + "\n" * 1_000_000 + "x")
    with pytest.raises(UserError, match="frontmatter"):
        parse_task(file)


def test_a_grader_is_judged_by_its_source() -> None:
    plain = (
        "def grade(**k):\n    s = {}\n    s['overall_score'] = round(0.4*s['a'] + 0.6*s['b'], 3)"
    )
    assert inspect_grader(plain).weights == {"a": 0.4, "b": 0.6}
    mean = "def grade(**k):\n    s = {}\n    return {'overall_score': (s['a'] + s['b']) / 2}"
    assert inspect_grader(mean).weights == {"a": 0.5, "b": 0.5}
    gated = "def grade(**k):\n    s = {}\n    s['overall_score'] = s['a'] * s['b']"
    assert inspect_grader(gated).weights == {}
    film = "import subprocess\ndef grade(**k): subprocess.run(['ffmpeg', '-i', 'x'])"
    assert not inspect_grader(film).runs_code
    code = "import subprocess\ndef grade(**k): subprocess.run(['python3', 'x.py'])"
    assert inspect_grader(code).runs_code
    asks = "def grade(**k):\n    from openai import OpenAI"
    assert inspect_grader(asks).asks_model
