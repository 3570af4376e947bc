"""Plays staged solutions in a directory and judges what they leave with the real supervisor."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.environments.process import ProcessFactory
from uniclaw.harnesses.solution import read_solution
from uniclaw.hidden.verdict import Verdict
from uniclaw.records import Entry, Event, EventKind, Manifest, StopReason, Turn
from uniclaw.suites.bundle import TaskBundle
from uniclaw.suites.uniclawbench import load_uniclawbench
from uniclaw.supervisor import pycheck_runner
from uniclaw.supervisor.apart import Job, JobKey, JobResult
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.grader import Grader, Shared
from uniclaw.supervisor.supervise import Supervisor
from uniclaw.trajectory import Evidence

REPOSITORY = Path(__file__).resolve().parents[2]
SOLUTIONS = REPOSITORY / "tests" / "solutions"
ANOMALIES = "task_101_06_sqlite_anomalies"
MERGE = "task_101_12_csv_pipeline_merge"
CLUSTER = "task_102_13_k8s_yaml_reconciliation"
SHORTLIST = "task_102_21_product_shortlist_offline"
SUDOKU = "task_102_35_sudoku_9x9_easiest"
TASKS = (ANOMALIES, MERGE, CLUSTER, SHORTLIST, SUDOKU)

Files = dict[str, str]
"""Name under the results directory -> text."""


class Work(NamedTuple):
    """What an attempt left."""

    files: Files
    events: tuple[Event, ...] = ()
    message: str = "Done."


class HereGrader(Grader):
    """Does the grader environment's jobs in this process, with the runner's own readers."""

    async def run_jobs(
        self, jobs: Sequence[Job], *, shared: Shared, evidence: Evidence, files: FrozenFiles
    ) -> Mapping[JobKey, JobResult]:
        """Call every check function; what one raises goes on, as no evidence may break it."""
        references = pycheck_runner.References(str(_common(shared.references)))
        found: dict[JobKey, JobResult] = {}
        for job in jobs:
            function, arguments = _function(shared, job)
            data = _evidence_data(evidence, files)
            seen = pycheck_runner.Evidence(data, job.base, str(_common(shared.sources)))
            value = function(seen, references, **arguments)
            found[job.key] = JobResult(status="done", value=value)
        return found


def _function(shared: Shared, job: Job) -> tuple[Callable[..., JsonValue], dict[str, JsonValue]]:
    payload = job.payload
    module = _module(shared.checks[str(payload["file"])])
    arguments = payload["args"]
    assert isinstance(arguments, dict)
    function: Callable[..., JsonValue] = getattr(module, str(payload["function"]))
    return function, arguments


@cache
def _module(path: Path) -> ModuleType:
    """A check file, compiled here so that no bytecode lands beside it."""
    module = ModuleType(f"{path.parent.name}_{path.stem}")
    sys.modules[module.__name__] = module
    exec(compile(path.read_text("utf-8"), str(path), "exec"), module.__dict__)
    return module


def _evidence_data(evidence: Evidence, files: FrozenFiles) -> pycheck_runner.EvidenceData:
    return {
        "root": str(evidence.files_root),
        "round": evidence.round,
        "entries": [
            {"path": e.path, "kind": e.kind, "change": e.change, "skipped": e.skipped}
            for e in files.entries()
        ],
        "events": [event.model_dump(mode="json") for event in evidence.events],
        "final_message": evidence.turn.final_message,
        "probes": [],
    }


def _common(files: Mapping[str, Path]) -> Path:
    """The directory that the relative names of host files start at."""
    name, path = next(iter(files.items()))
    return path.parents[len(Path(name).parts) - 1]


@dataclass(frozen=True)
class Bench:
    """One task."""

    bundle: TaskBundle
    scratch: Path

    @cached_property
    def solved(self) -> Work:
        """What the solution left after its last round."""
        return self.rounds[-1]

    @cached_property
    def rounds(self) -> tuple[Work, ...]:
        """What the solution left after each of its rounds."""
        root = self.scratch / "played"
        workspace = root / "tmp_workspace"
        for name, path in self.bundle.sources.items():
            target = workspace / "clawbench/sources" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        for name, path in self.bundle.skills.items():
            shutil.copytree(path, root / "root/skills" / name)
        (workspace / "results").mkdir()
        played: list[Work] = []
        events: list[Event] = []
        while solution := read_solution(SOLUTIONS / self.bundle.task_id, len(played)):
            for step in solution.steps:
                events += call(len(events), step, _run(step, root), turn=len(played))
            files = {p.name: p.read_text("utf-8") for p in (workspace / "results").iterdir()}
            played.append(Work(files, tuple(events), solution.message))
        return tuple(played)

    def evidence(self, work: Work) -> Evidence:
        """Freeze an attempt."""
        root = self.scratch / f"frozen-{len(list(self.scratch.iterdir()))}"
        task, entries = self.bundle.task, list[Entry]()
        for name, text in work.files.items():
            inside = f"{task.artifact_roots[0]}/{name}"
            path = root / inside.lstrip("/")
            path.parent.mkdir(parents=True, exist_ok=True)
            data = text.encode("utf-8", "surrogateescape")
            path.write_bytes(data)
            entries.append(Entry(path=inside, kind="file", size=len(data), mode=0o644))
        turn = Turn(
            stop=StopReason.FINISHED, events=work.events, final_message=work.message, executor_s=1
        )
        manifest = Manifest(entries=tuple(entries))
        return Evidence(round=0, task=task, files_root=root, manifest=manifest, turns=(turn,))

    async def judge(self, work: Work, *, apart: bool = False) -> Verdict:
        """Judge an attempt; `apart` in a grader environment, else in this process."""
        factory = ProcessFactory(run="overlays", scratch=self.scratch)
        grader = (Grader if apart else HereGrader)(factory=factory, image="none")
        try:
            supervisor = Supervisor(
                loaded=self.bundle.load_rubric(),
                bundle_sources=self.bundle.sources,
                grader=grader,
                judge=None,
            )
            return await supervisor.supervise(self.evidence(work), rounds_left=2)
        finally:
            await grader.close()


def _run(step: str, root: Path) -> str:
    """Run a step as the oracle would, with the skills where this directory has them."""
    python = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-s"],
        input=step.replace("/root/skills", f"{root}/root/skills").encode(),
        cwd=root / "tmp_workspace",
        env={"PATH": f"{python}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        timeout=60,
        check=True,
    )
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def call(
    index: int, command: str, result: str = "ok", *, turn: int = 0, tool: str = "shell"
) -> list[Event]:
    """A shell call and its result."""
    return tool_call(index, tool, {"command": command}, result, turn=turn)


def tool_call(
    index: int, tool: str, arguments: dict[str, JsonValue], result: str = "ok", *, turn: int = 0
) -> list[Event]:
    """A tool call and its result."""
    name = f"r{turn}.e{index}"
    made = Event(
        id=name,
        round=turn,
        kind=EventKind.TOOL_CALL,
        role="assistant",
        tool=tool,
        call_id=name,
        arguments=arguments,
    )
    answer = Event(
        id=f"r{turn}.e{index + 1}",
        round=turn,
        kind=EventKind.TOOL_RESULT,
        role="tool",
        tool=tool,
        call_id=name,
        text=result,
        exit_code=0,
    )
    return [made, answer]


def benches(reference: Path, scratch: Path) -> dict[str, Bench]:
    """All five tasks of a checkout."""
    suite = load_uniclawbench(
        reference / "uniclawbench",
        uri="uniclawbench",
        assets=Assets((REPOSITORY,)),
        globs=TASKS,
    )
    made: dict[str, Bench] = {}
    for bundle in suite.tasks:
        place = scratch / bundle.task_id
        place.mkdir()
        made[bundle.task_id] = Bench(bundle, place)
    return made


def without_calls(work: Work, pattern: str) -> Work:
    """The same attempt without the calls whose command matches."""
    dropped = {
        e.call_id
        for e in work.events
        if e.arguments is not None and re.search(pattern, str(e.arguments.get("command")))
    }
    return work._replace(events=tuple(e for e in work.events if e.call_id not in dropped))


def lost(verdict: Verdict) -> set[str]:
    """Checkpoints that are not fully met."""
    return {x.id for x in verdict.lines if x.kind == "checkpoint" and x.result.value != 1}


Change = Callable[[Files], None]
