"""Environments for grading: one that holds the references, and clean ones for the agent's code.

The **grader environment** is started at the first need and lives as long as the episode. It holds
references, original sources, authors' check files and, round by round in a fresh directory, the
frozen evidence. It runs authors' functions, OCR and a workbook reader, and nothing of the
agent's. Its answers come back on a line that starts with a nonce of that round.

**Clean environments** for the agent's code are another matter: see `clean`.
"""

import asyncio
import json
import secrets
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from pydantic import JsonValue

from uniclaw.errors import InfraError
from uniclaw.hidden.program import GraderProgram
from uniclaw.hidden.rubric import CommandCheck
from uniclaw.ports import Environment, EnvironmentFactory, EnvironmentSpec, ExecResult, Limits
from uniclaw.records import Task
from uniclaw.supervisor.apart import CommandOutput, Job, JobKey, JobResult
from uniclaw.supervisor.clean import clean_spec, run_clean, write_output
from uniclaw.supervisor.frozen import FrozenFiles, Layer
from uniclaw.supervisor.wild_grader import OpenJudge, WildGrader
from uniclaw.supervisor.wild_result import Graded
from uniclaw.trajectory import Evidence

GRADER_HOME = "/grader"
_MAX_OUTPUT = 32_000_000
_MARGIN_S = 20.0
_HERE = Path(__file__).resolve().parent
_PROGRAMS = ("pycheck_runner.py", "xlsx_reader.py")


class Shared(NamedTuple):
    """Files that stay in the grader environment for all rounds, by relative path."""

    references: Mapping[str, Path]
    sources: Mapping[str, Path]
    checks: Mapping[str, Path]


class Grader:
    """Grading environments of one episode. Close it."""

    def __init__(
        self,
        *,
        factory: EnvironmentFactory,
        image: str,
        labels: Mapping[str, str] | None = None,
        limits: Limits | None = None,
        open_judge: OpenJudge | None = None,
    ) -> None:
        """Bind the parts; nothing is started yet.

        Args:
            factory: starts environments.
            image: the task's environment image.
            labels: for every environment that is started.
            limits: of each environment; None takes the port's default.
            open_judge: opens the way to the judge model, for imported graders that ask one.
        """
        self._factory = factory
        self._image = image
        self._labels = dict(labels or {})
        self._limits = limits or Limits()
        self._environment: Environment | None = None
        self._supplied = False
        self._scratch: Path | None = None
        self._lock = asyncio.Lock()
        self._open_judge = open_judge
        self._wild: WildGrader | None = None

    async def close(self) -> None:
        """Remove everything that was started. Idempotent."""
        environment, self._environment = self._environment, None
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
        if environment is not None:
            await environment.close()

    # --- the grader environment ----------------------------------------------------------

    async def run_jobs(
        self, jobs: Sequence[Job], *, shared: Shared, evidence: Evidence, files: FrozenFiles
    ) -> Mapping[JobKey, JobResult]:
        """Do all jobs of a round with one copy and one command.

        When the environment is lost the jobs are done once more in a new one; a second loss
        makes them unavailable, with the reason.

        Args:
            jobs: to do; none starts nothing.
            shared: what the grader environment holds in every round; copied when it starts.
            evidence: the round's.
            files: its artifacts and the outputs of its commands.
        """
        if not jobs:
            return {}
        problem = ""
        async with self._lock:
            for _ in range(2):
                try:
                    return await self._run_once(jobs, shared, evidence, files)
                except InfraError as error:
                    problem = f"the grader environment failed: {error}"
                    await self._drop()
        return {job.key: JobResult(status="unavailable", reason=problem) for job in jobs}

    async def _drop(self) -> None:
        environment, self._environment = self._environment, None
        self._supplied = False
        if environment is not None:
            await environment.close()

    async def _run_once(
        self, jobs: Sequence[Job], shared: Shared, evidence: Evidence, files: FrozenFiles
    ) -> Mapping[JobKey, JobResult]:
        if self._environment is None:
            self._environment = await self._factory.start(
                EnvironmentSpec(
                    image=self._image,
                    workspace=GRADER_HOME,
                    limits=self._limits,
                    labels=self._labels,
                )
            )
        nonce = secrets.token_hex(16)
        place = f"round-{evidence.round}-{nonce[:8]}"
        document = _document(jobs, evidence, files, place)
        put: dict[str, bytes | Path] = {} if self._supplied else _supplies(shared)
        put[f"{GRADER_HOME}/{place}/jobs.json"] = json.dumps(document).encode("ascii")
        for layer in files.layers:
            put.update(_tree(layer, f"{GRADER_HOME}/{place}/evidence"))
        await self._environment.put(put)
        self._supplied = True
        result = await self._environment.exec(
            ["python3", "-I", _PROGRAMS[0], f"{place}/jobs.json", nonce],
            cwd=GRADER_HOME,
            timeout_s=sum(job.timeout_s for job in jobs) + _MARGIN_S,
            max_bytes=_MAX_OUTPUT,
        )
        return _read_answers(result, jobs, nonce)

    # --- a grader that an imported benchmark brings along --------------------------------

    async def run_program(self, program: GraderProgram, evidence: Evidence) -> Graded:
        """Call an imported grader on a round, in an environment of its own.

        Raises:
            JudgeError: the model that it asks failed.
            TaskRefused: it gives no usable score, whatever the agent did.
            InfraError: no environment for it could be started.
        """
        if self._wild is None:
            self._wild = WildGrader(
                factory=self._factory,
                image=self._image,
                limits=self._limits,
                labels=self._labels,
                open_judge=self._open_judge,
            )
        return await self._wild.grade(program, evidence)

    # --- clean environments --------------------------------------------------------------

    async def clean_environment(self, task: Task) -> Environment:
        """A clean environment that the caller closes.

        Raises:
            InfraError: it could not be started.
        """
        spec = clean_spec(task, self._image, limits=self._limits, labels=self._labels)
        return await self._factory.start(spec)

    async def run_command(
        self, part: str, check: CommandCheck, *, evidence: Evidence, fixtures: Mapping[str, Path]
    ) -> CommandOutput:
        """Run the first phase of a command check in a clean environment of its own.

        When the environment is lost the command is run once more; a command that loses two
        environments is taken to have ended them itself.

        Args:
            part: id of the check.
            check: what to run.
            evidence: the round's; its artifacts are copied in.
            fixtures: absolute path inside -> host file.
        """
        base = f"/command/{part}"
        spec = clean_spec(evidence.task, self._image, limits=self._limits, labels=self._labels)
        problem = ""
        for _ in range(2):
            try:
                environment = await self._factory.start(spec)
            except InfraError as error:
                problem = f"no environment for the command: {error}"
                return CommandOutput(exit_code=None, layer=None, base=base, problem=problem)
            try:
                run = await run_clean(environment, check, evidence=evidence, fixtures=fixtures)
            except InfraError as error:
                problem = str(error)
                continue
            finally:
                await environment.close()
            layer = write_output(base, run.produced, self._directory())
            return CommandOutput(
                exit_code=run.exit_code,
                layer=layer,
                base=base,
                timed_out=run.timed_out,
                truncated=run.truncated,
            )
        told = {"stdout": b"", "stderr": f"the environment was lost: {problem}".encode()}
        layer = write_output(base, told, self._directory())
        return CommandOutput(exit_code=None, layer=layer, base=base)

    def _directory(self) -> Path:
        """A fresh directory on the host that lives until `close`."""
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="uniclaw-grader-"))
        return Path(tempfile.mkdtemp(dir=self._scratch))


def _supplies(shared: Shared) -> dict[str, bytes | Path]:
    """What goes into the grader environment once."""
    put: dict[str, bytes | Path] = {
        f"{GRADER_HOME}/{name}": (_HERE / name).read_bytes() for name in _PROGRAMS
    }
    for directory in ("references", "sources", "checks"):
        found: Mapping[str, Path] = getattr(shared, directory)
        put.update({f"{GRADER_HOME}/{directory}/{name}": path for name, path in found.items()})
    return put


def _tree(layer: Layer, target: str) -> dict[str, bytes | Path]:
    """The top-level trees of a layer under a target directory; none when nothing was kept."""
    if not layer.root.is_dir():
        return {}
    tops = sorted(top for top in layer.root.iterdir() if not top.is_symlink())
    return {f"{target}/{top.name}": top for top in tops}


def _document(
    jobs: Sequence[Job], evidence: Evidence, files: FrozenFiles, place: str
) -> dict[str, JsonValue]:
    entries: list[JsonValue] = [
        {"path": e.path, "kind": e.kind, "change": e.change, "skipped": e.skipped}
        for e in files.entries()
    ]
    return {
        "evidence": {
            "root": f"{place}/evidence",
            "round": evidence.round,
            "entries": entries,
            "events": [event.model_dump(mode="json") for event in evidence.events],
            "final_message": evidence.turn.final_message,
            "probes": [probe.model_dump(mode="json") for probe in evidence.probes],
        },
        "sources": "sources",
        "references": "references",
        "checks": "checks",
        "jobs": [
            {
                "index": index,
                "kind": job.kind,
                "base": job.base,
                "timeout_s": job.timeout_s,
                "payload": dict(job.payload),
            }
            for index, job in enumerate(jobs)
        ],
    }


def _read_answers(
    result: ExecResult, jobs: Sequence[Job], nonce: str
) -> Mapping[JobKey, JobResult]:
    """One result a job; a job without an answer is unavailable, with what is known."""
    mark = f"{nonce} ".encode()
    lines = [line for line in result.stdout.splitlines() if line.startswith(mark)]
    try:
        answers = cast("JsonValue", json.loads(lines[-1][len(mark) :])) if lines else []
    except ValueError:
        answers = []
    found = {
        answer.get("index"): answer
        for answer in (answers if isinstance(answers, list) else [])
        if isinstance(answer, dict)
    }
    return {job.key: _result(found.get(i), result) for i, job in enumerate(jobs)}


def _result(answer: Mapping[str, JsonValue] | None, result: ExecResult) -> JobResult:
    if answer is None:
        told = result.stderr[-300:].decode("utf-8", "replace").strip()
        how = "ran out of time" if result.timed_out else f"ended with exit code {result.exit_code}"
        return JobResult(status="unavailable", reason=f"the check runner {how}: {told}")
    reason = str(answer.get("reason") or "")
    match answer.get("status"):
        case "done":
            return JobResult(status="done", value=answer.get("value"))
        case "failed":
            return JobResult(status="failed", reason=reason)
        case _:
            return JobResult(status="unavailable", reason=reason or "no answer in a known form")
