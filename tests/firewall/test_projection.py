from collections.abc import Iterator
from pathlib import Path

import pytest
from hidden_case import BRIEF, POLICIES, policy, verdict
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from uniclaw.firewall.canary import CanarySet
from uniclaw.firewall.explain import record_types
from uniclaw.firewall.projection import (
    VisibleLimits,
    build_view,
    project,
    released_texts,
    score_band,
    visible_round,
    visible_texts,
)
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import (
    Entry,
    Event,
    EventKind,
    Manifest,
    NeutralId,
    Progress,
    ScoreBand,
    StopReason,
    Task,
    TaskId,
    Turn,
    UserView,
)
from uniclaw.trajectory import Evidence

FIELDS = {
    "sealed": set[str](),
    "binary": {"decision"},
    "coarse": {"decision", "attempt_state", "recoverable", "score_band"},
    "paper": {"decision", "attempt_state", "recoverable", "score"},
    "hints": {"decision", "attempt_state", "recoverable", "score_band", "guidance_tags"},
    "missing": {"decision", "attempt_state", "recoverable", "score_band", "missing_artifacts"},
    "rationale": {"decision", "attempt_state", "recoverable", "score_band", "rationale"},
    "open": set(Progress.model_fields) - {"score_band"},
}


@pytest.mark.parametrize("name", POLICIES)
def test_released_fields_are_exactly_those_of_the_policy(name: str) -> None:
    progress = project(verdict(), policy(name))
    assert set(progress.model_dump(exclude_none=True)) == FIELDS[name]


@given(score=st.floats(0, 1), threshold=st.floats(0.01, 1))
def test_the_band_follows_the_threshold(score: float, threshold: float) -> None:
    band = score_band(score, threshold)
    assert (band is ScoreBand.HIGH) == (score >= threshold)
    assert (band is ScoreBand.LOW) == (score < threshold / 2)


def test_a_missing_score_is_released_as_nothing() -> None:
    for name in POLICIES:
        progress = project(verdict(score=None), policy(name))
        assert progress.score is None
        assert progress.score_band is None


def test_released_copies_carry_no_canary() -> None:
    canaries = CanarySet.create(["rationale"])
    marked = verdict().model_copy(
        update={"rationale": canaries.mark("rationale", "the refunds were left in")}
    )
    progress = project(marked, policy("open"), strip=canaries.strip)
    assert progress.rationale == "the refunds were left in"
    assert not canaries.hits("\n".join(released_texts(progress)))


def parents(kind: type[BaseModel]) -> Iterator[type]:
    yield from (base for base in kind.__mro__ if base.__module__.startswith("uniclaw"))


def test_a_view_shares_no_class_with_the_verdict() -> None:
    hidden = {
        kind for kind in record_types(Verdict) if kind.__module__.startswith("uniclaw.hidden")
    }
    assert hidden
    for kind in record_types(UserView):
        assert not hidden.intersection(parents(kind))
        assert not kind.__module__.startswith("uniclaw.hidden")


def test_verdict_and_progress_share_no_base_but_the_root() -> None:
    shared = set(parents(Verdict)) & set(parents(Progress))
    assert {kind.__name__ for kind in shared} == {"Record"}


def task() -> Task:
    return Task(task_id=TaskId("t-1"), suite="s", instruction="Do it.", family="f")


def evidence(root: Path, files: dict[str, bytes], **changes: str) -> Evidence:
    entries: list[Entry] = []
    for path, data in files.items():
        host = root / path.lstrip("/")
        host.parent.mkdir(parents=True, exist_ok=True)
        host.write_bytes(data)
        entries.append(
            Entry.model_validate(
                {
                    "path": path,
                    "kind": "file",
                    "size": len(data),
                    "change": changes.get(path, "added"),
                }
            )
        )
    turn = Turn(
        stop=StopReason.FINISHED,
        executor_s=1,
        final_message="Done.",
        events=(
            Event(id="r0.e0", round=0, kind=EventKind.TOOL_RESULT, role="tool", text="x" * 9_000),
            Event(id="r0.e1", round=0, kind=EventKind.NOTE, role="system", text="stopped"),
        ),
    )
    return Evidence(
        round=0,
        task=task(),
        files_root=root,
        manifest=Manifest(entries=tuple(entries)),
        turns=(turn,),
    )


@pytest.mark.parametrize(
    ("visible", "files", "events"), [("messages", 0, 0), ("files", 1, 0), ("trajectory", 1, 1)]
)
def test_visible_says_how_much_of_the_work_is_seen(
    tmp_path: Path, visible: str, files: int, events: int
) -> None:
    found = evidence(tmp_path, {"/workspace/results/a.txt": b"hello"})
    used = policy().model_copy(update={"visible": visible})
    shown = visible_round("Do it.", found.turn, found, used)
    assert (len(shown.files), len(shown.events)) == (files, events)
    assert shown.final_message == "Done."


def test_files_are_capped_decoded_and_never_followed(tmp_path: Path) -> None:
    root = tmp_path / "frozen"
    found = evidence(
        root,
        {
            "/workspace/results/big.txt": "ä".encode() * 40_000,
            "/workspace/results/bad.txt": b"\xff\xfe ok",
            "/workspace/results/pic.png": b"\x89PNG\0\0",
            "/workspace/results/old.txt": b"as it was",
            "/workspace/results/link.txt": b"",
        },
        **{"/workspace/results/old.txt": "same"},
    )
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    link = root / "workspace/results/link.txt"
    link.unlink()
    link.symlink_to(tmp_path / "secret")
    shown = visible_round("Do it.", found.turn, found, policy())
    by_name = {file.path.rsplit("/", 1)[-1]: file for file in shown.files}
    assert set(by_name) == {"big.txt", "bad.txt", "pic.png"}
    assert by_name["big.txt"].truncated
    assert len((by_name["big.txt"].text or "").encode()) <= VisibleLimits().max_file_bytes + 3
    assert by_name["bad.txt"].text == "\ufffd\ufffd ok"
    assert by_name["pic.png"].text is None
    assert shown.events[0].truncated
    assert shown.events[0].total_bytes == 9_000


def test_the_view_holds_what_it_was_given(tmp_path: Path) -> None:
    found = evidence(tmp_path, {"/workspace/results/a.txt": b"hello"})
    view = build_view(
        task_id=NeutralId("n"),
        episode_id=NeutralId("e"),
        instruction="Do it.",
        language="en",
        persona="p",
        brief=BRIEF,
        rounds=[visible_round("Do it.", found.turn, found, policy())],
        progress=Progress(),
        asked=False,
        feedback_rounds_left=2,
    )
    assert "hello" in "\n".join(visible_texts(view))
    assert UserView.model_validate_json(view.model_dump_json()) == view
