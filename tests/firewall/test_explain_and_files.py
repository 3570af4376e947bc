import json
from pathlib import Path

import pytest
from hidden_case import ASSETS, POLICIES, policy, verdict
from pydantic import BaseModel, JsonValue

from uniclaw.errors import UserError
from uniclaw.firewall.audit import audit, read_trace, trace_files
from uniclaw.firewall.explain import explain, refuse_hidden
from uniclaw.firewall.projection import project
from uniclaw.firewall.screen_file import screen_lines, screens_of
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Progress, Record, UserView
from uniclaw.suites import load_suite
from uniclaw.suites.uniclawbench import load_uniclawbench


class Leaky(UserView):
    verdict: Verdict | None = None


class Nested(UserView):
    extra: tuple["Inner", ...] = ()


class Inner(Record):
    found: dict[str, Verdict]


class Unmapped(UserView):
    note: str = ""


class Open(BaseModel):
    anything: str


@pytest.mark.parametrize("name", POLICIES)
def test_the_table_agrees_with_what_projection_releases(name: str) -> None:
    released = set(project(verdict(), policy(name)).model_dump(exclude_none=True))
    told = {
        row.field.removeprefix("progress.")
        for row in explain(policy(name))
        if row.field.startswith("progress.") and row.resolution != "not released"
    }
    assert told == released
    assert {row.field.removeprefix("progress.") for row in explain(policy(name))} >= set(
        Progress.model_fields
    )


@pytest.mark.parametrize("view", [Leaky, Nested, Open])
def test_a_view_that_could_hold_something_hidden_is_refused(view: type[BaseModel]) -> None:
    with pytest.raises(UserError):
        refuse_hidden(view)


def test_a_field_without_a_known_source_is_refused() -> None:
    with pytest.raises(UserError, match="note"):
        explain(policy(), Unmapped)


def test_lines_of_anyone_are_screened(repository: Path) -> None:
    suite = load_suite(str(repository / "examples" / "office"), assets=ASSETS)
    lines = [
        {"id": "1", "task_id": "expense_skill_en", "visible": "", "message": "It is 986.26 euros."},
        {
            "id": 2,
            "task_id": "expense_skill_en",
            "visible": ["x"],
            "message": "Look again.",
            "z": 1,
        },
    ]
    text = [json.dumps(line) for line in lines]
    found = list(screen_lines([text[0], "", text[1]], screens_of(suite, policy()), file="m.jsonl"))
    assert [set(row.model_dump()) for row in found] == [
        {"id", "decision", "kind", "matched", "tier"}
    ] * 2
    assert (found[0].decision, found[0].kind, found[0].tier) == ("leak", "number", "deterministic")
    assert (found[1].decision, found[1].kind, found[1].matched) == ("clean", None, None)


@pytest.mark.parametrize(
    "line", ["{", "3", '{"id": "1"}', '{"id":"1","task_id":"nosuch","message":"m"}']
)
def test_broken_lines_are_refused_with_what_is_wrong(repository: Path, line: str) -> None:
    suite = load_suite(str(repository / "examples" / "office"), assets=ASSETS)
    with pytest.raises(UserError):
        list(screen_lines([line], screens_of(suite, policy()), file="m.jsonl"))


def trace(directory: Path, **changes: JsonValue) -> Path:
    document: dict[str, JsonValue] = {
        "taskSummary": {"taskId": "expense_skill_en"},
        "attemptDetails": [
            {
                "transcript": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": [{"type": "text", "text": "344.03"}],
                        }
                    },
                    {
                        "message": {
                            "role": "user",
                            "content": [{"type": "text", "text": "It is 986.26."}],
                        }
                    },
                    {
                        "message": {
                            "role": "assistant",
                            "content": [{"type": "text", "text": "986.26"}],
                        }
                    },
                ],
                "continuations": [
                    {"index": 1, "safeUserFeedback": "It is 986.26."},
                    {"index": 2, "safeUserFeedback": "Is 344.03 right, and 986.26?"},
                    {"index": 3, "safeUserFeedback": ""},
                ],
            }
        ],
        **changes,
    }
    file = directory / "t.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_published_episodes_are_audited_by_what_was_visible_before(
    tmp_path: Path, repository: Path
) -> None:
    suite = load_suite(str(repository / "examples" / "office"), assets=ASSETS)
    trace(tmp_path)
    found = audit(trace_files(tmp_path), screens_of(suite, policy()))
    assert [row.decision for row in found.rows] == ["leak", "clean"]
    assert (found.traces, found.messages, found.leaking, found.leak_rate) == (1, 2, 1, 0.5)


@pytest.mark.parametrize("data", ["", "[]", '{"taskSummary": 3}', '{"attemptDetails": []}'])
def test_what_is_no_trace_is_refused(tmp_path: Path, data: str) -> None:
    file = tmp_path / "t.json"
    file.write_text(data, encoding="utf-8")
    with pytest.raises(UserError, match=r"t\.json"):
        read_trace(file)
    with pytest.raises(UserError):
        trace_files(tmp_path / "empty")


@pytest.mark.reference
def test_the_published_feedback_of_the_reference_is_audited(reference_data: Path) -> None:
    root = reference_data / "uniclawbench"
    paths = trace_files(root / "published" / "traces")
    wanted = sorted({item.task_id for path in paths for item in read_trace(path)})
    suite = load_uniclawbench(root, uri="ref", assets=ASSETS, globs=tuple(wanted))
    found = audit(paths, screens_of(suite, policy(), whole_work=False))
    assert (found.traces, found.messages) == (10, 18)
    assert found.leaking <= 6
    strong = {"number", "date", "score", "count", "rubric_talk"}
    assert not [row for row in found.rows if strong & {hit.kind for hit in row.hits}]
    assert "upper bound" in found.note
