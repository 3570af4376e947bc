"""Frozen evidence made by hand, and one-line rubrics played on it."""

import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from PIL import Image, ImageDraw
from pydantic import JsonValue

from uniclaw.hidden.load import load_rubric
from uniclaw.hidden.references import References
from uniclaw.hidden.rubric import Check, LoadedRubric
from uniclaw.hidden.verdict import CheckResult, LineResult, Verdict
from uniclaw.ports import EnvironmentFactory
from uniclaw.records import (
    Entry,
    Event,
    EventKind,
    Manifest,
    Probe,
    ProbeResult,
    Record,
    StopReason,
    Task,
    TaskId,
    Turn,
)
from uniclaw.supervisor.checks.context import CheckContext
from uniclaw.supervisor.evaluate import evaluate_lines
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.grader import Grader
from uniclaw.supervisor.lines import JudgeFunction, Line
from uniclaw.supervisor.supervise import Supervisor
from uniclaw.trajectory import Evidence
from uniclaw.yamlio import parse_record

Content = str | bytes | None
ROOT = "/workspace/results"


class _Holder(Record):
    check: Check


def parse_check(data: Mapping[str, JsonValue]) -> Check:
    return parse_record(_Holder, {"check": dict(data)}).check


class Workshop:
    """A rubric directory and frozen rounds under one temporary directory."""

    def __init__(self, tmp: Path, factory: EnvironmentFactory) -> None:
        self.tmp = tmp
        self.rubric_root = tmp / "rubric"
        (self.rubric_root / "references").mkdir(parents=True)
        self.factory = factory
        self.graders: list[Grader] = []
        self._rounds = 0

    def reference(self, name: str, content: str | bytes) -> None:
        path = self.rubric_root / "references" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def beside(self, name: str, content: str) -> None:
        path = self.rubric_root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def evidence(
        self,
        files: Mapping[str, Content],
        *,
        message: str = "done",
        events: Sequence[Event] = (),
        probes: Sequence[ProbeResult] = (),
        stop: StopReason = StopReason.FINISHED,
        entries: Sequence[Entry] = (),
        truncated: bool = False,
        task: Task | None = None,
    ) -> Evidence:
        """Freeze files by path under the first artifact root (None makes a directory)."""
        root = self.tmp / f"frozen-{self._rounds}"
        root.mkdir()
        listed: list[Entry] = []
        for name, content in files.items():
            inside = name if name.startswith("/") else f"{ROOT}/{name}"
            path = root / inside.lstrip("/")
            if content is None:
                path.mkdir(parents=True)
                listed.append(Entry(path=inside, kind="dir"))
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode() if isinstance(content, str) else content
            path.write_bytes(data)
            listed.append(Entry(path=inside, kind="file", size=len(data), mode=0o644))
        turn = Turn(stop=stop, events=tuple(events), final_message=message, executor_s=1)
        evidence = Evidence(
            round=self._rounds,
            task=task or make_task(probes),
            files_root=root,
            manifest=Manifest(entries=(*listed, *entries), truncated=truncated),
            turns=(turn,),
            probes=tuple(probes),
        )
        self._rounds += 1
        return evidence

    def context(self, evidence: Evidence) -> CheckContext:
        references = References(root=self.rubric_root, reference_root=self.rubric_root)
        return CheckContext(
            evidence=evidence, files=FrozenFiles.of(evidence), references=references
        )

    def run(self, check: Mapping[str, JsonValue], evidence: Evidence) -> CheckResult:
        """Evaluate one check that needs no grader."""
        return self.run_line(check, evidence).result

    def run_line(
        self, check: Mapping[str, JsonValue], evidence: Evidence, *, cap: bool = False
    ) -> LineResult:
        line = Line(
            id="x", kind="cap" if cap else "checkpoint", description="d", check=parse_check(check)
        )
        return evaluate_lines([line], self.context(evidence)).lines[0]

    def load(self, rubric: Mapping[str, JsonValue]) -> LoadedRubric:
        file = self.rubric_root / "rubric.yaml"
        file.write_text(json.dumps(dict(rubric)), encoding="utf-8")
        return load_rubric(file, reference_root=self.rubric_root, source="native")

    def supervisor(
        self,
        rubric: Mapping[str, JsonValue],
        *,
        judge: JudgeFunction | None = None,
        sources: Mapping[str, Path] | None = None,
    ) -> Supervisor:
        grader = Grader(factory=self.factory, image="base", labels={"uniclaw.run": "test"})
        self.graders.append(grader)
        return Supervisor(
            loaded=self.load(rubric), bundle_sources=sources or {}, grader=grader, judge=judge
        )

    async def verdict(
        self,
        check: Mapping[str, JsonValue],
        evidence: Evidence,
        *,
        sources: Mapping[str, Path] | None = None,
    ) -> Verdict:
        """Play a round of a rubric with one line, through the grader."""
        return await self.supervisor(one_line(check), sources=sources).supervise(
            evidence, rounds_left=0
        )


def one_line(check: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A rubric of one checkpoint."""
    return {
        "threshold": 1,
        "checkpoints": [{"id": "x", "weight": 1, "description": "d", "check": dict(check)}],
    }


def make_task(probes: Sequence[ProbeResult] = ()) -> Task:
    return Task(
        task_id=TaskId("t"),
        suite="s",
        instruction="do it",
        family="f",
        probes=tuple(Probe(id=p.id, run="true") for p in probes),
    )


def call(
    index: int, command: str, result: str = "", *, tool: str = "shell", round_number: int = 0
) -> list[Event]:
    """A tool call and its result."""
    name = f"r{round_number}.e{index}"
    return [
        Event(
            id=name,
            round=round_number,
            kind=EventKind.TOOL_CALL,
            role="assistant",
            tool=tool,
            call_id=name,
            arguments={"command": command},
        ),
        Event(
            id=f"{name}r",
            round=round_number,
            kind=EventKind.TOOL_RESULT,
            role="tool",
            tool=tool,
            call_id=name,
            text=result,
        ),
    ]


def dump(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def picture(size: tuple[int, int] = (200, 100), kind: str = "PNG") -> bytes:
    image = Image.new("RGB", size, "white")
    draw = ImageDraw.Draw(image)
    for i in range(8):
        draw.rectangle((i * 20, 10, i * 20 + 15, 90), fill=(i * 30, 255 - i * 30, i * 17))
    return encoded(image, kind)


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind)
    return stream.getvalue()
