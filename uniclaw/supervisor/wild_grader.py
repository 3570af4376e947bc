"""Calls an imported grader, unmodified, in a fresh environment that no agent was ever in.

There it finds what it has fixed paths for: a copy of the frozen workspace, the hidden files in
`gt/`, the trajectory as OpenClaw's session file, and the services' recorded audits on their
ports. It runs as the plain user, with Python's isolated mode, without network; a model, where it
asks one, is behind the gateway, so that no key is there. What the agent left is only data here;
the flag `grader-runs-agent-code` marks graders that carry it out themselves, and these get no
way to a model.

A grader that gives no usable score is called once more on the workspace as the agent was given
it. When it works there, what the agent left has broken it, and that counts against the agent;
else the grader itself is broken, and nobody has a score.
"""

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from pydantic import JsonValue

from uniclaw.errors import EnvironmentKilledByAgent, JudgeError, TaskRefused
from uniclaw.hidden.program import GraderProgram
from uniclaw.ports import (
    Environment,
    EnvironmentFactory,
    EnvironmentSpec,
    ExecResult,
    Limits,
    ModelDoor,
)
from uniclaw.supervisor.wild_result import (
    RUNS_CODE,
    Graded,
    fallback_flags,
    line_values,
    why_unusable,
)
from uniclaw.supervisor.wild_services import audits_of
from uniclaw.supervisor.wild_transcript import PATH as TRANSCRIPT
from uniclaw.supervisor.wild_transcript import transcript_lines
from uniclaw.trajectory import Evidence

HOME = "/uniclaw-grade"
HIDDEN = "gt"
_HERE = Path(__file__).resolve().parent
_MARGIN_S = 5.0
_MAX_OUTPUT = 4_000_000
_OPEN_ROOT = "chmod 711 /root"
"""The session file's place is below root's home, and the grader is not root."""


class JudgeDoor(NamedTuple):
    """The way from a grader's environment to the judge model."""

    door: ModelDoor
    socket_dir: Path


OpenJudge = Callable[[], Awaitable[JudgeDoor]]


class _Answer(NamedTuple):
    """What one call of a grader came to."""

    values: Mapping[str, JsonValue]
    problem: str | None
    """Why there is no usable score."""


class WildGrader:
    """Calls one task's grader, round by round; holds nothing open between calls."""

    def __init__(
        self,
        *,
        factory: EnvironmentFactory,
        image: str,
        limits: Limits,
        labels: Mapping[str, str],
        open_judge: OpenJudge | None,
    ) -> None:
        """Bind the parts; nothing is started yet.

        Args:
            factory: starts environments.
            image: the task's environment image, whose interpreter the grader runs in.
            limits: of its environment.
            labels: of its environment.
            open_judge: opens the way to the judge model.
        """
        self._factory = factory
        self._image = image
        self._limits = limits
        self._labels = labels
        self._open_judge = open_judge
        self._idle: str | None = None
        self._idle_known = False

    async def grade(self, program: GraderProgram, evidence: Evidence) -> Graded:
        """Call the grader on a round.

        Raises:
            JudgeError: the model that it asks failed, or there is none.
            TaskRefused: it gives no usable score on an untouched workspace either.
        """
        flags = [RUNS_CODE] if program.runs_code else []
        files, incomplete = _workspace(program, evidence)
        flags += incomplete
        audits = audits_of(evidence.probes)
        answer = await self._call(program, files, transcript_lines(evidence.turns), audits)
        flags += fallback_flags(answer.values)
        if answer.problem is None:
            lines, more = line_values(program, answer.values)
            return Graded(lines=lines, values=answer.values, flags=(*flags, *more))
        idle = await self._idle_problem(program, audits)
        if idle is not None:
            raise TaskRefused(f"the task's grader: {answer.problem}")
        told = f"the grader breaks on what was left: {answer.problem}"
        return Graded(lines={}, values=answer.values, flags=tuple(flags), broken=told)

    async def _idle_problem(
        self, program: GraderProgram, audits: Mapping[str, JsonValue]
    ) -> str | None:
        """Why the grader gives no score on the workspace as it was handed out."""
        if not self._idle_known:
            files: dict[str, bytes | Path] = {
                f"{program.workspace}/{name}": path for name, path in program.idle.items()
            }
            unused = {port: _emptied(documents) for port, documents in audits.items()}
            self._idle = (await self._call(program, files, "", unused)).problem
            self._idle_known = True
        return self._idle

    async def _call(
        self,
        program: GraderProgram,
        files: Mapping[str, bytes | Path],
        transcript: str,
        audits: Mapping[str, JsonValue],
    ) -> _Answer:
        judge = await self._judge(program)
        spec = EnvironmentSpec(
            image=self._image,
            workspace=program.workspace,
            writable=(f"{HOME}/home", f"{HOME}/tmp"),
            limits=self._limits,
            labels=self._labels,
            door=None if judge is None else str(judge.socket_dir),
        )
        environment = await self._factory.start(spec)
        try:
            await environment.put({**files, **_supplies(program, transcript, audits)})
            result, nonce = await _run(environment, program, judge)
        except EnvironmentKilledByAgent as error:
            # No agent was ever here: the grader, or what it carried out, ended it.
            return _Answer({}, f"it ended its environment: {error}")
        finally:
            await environment.close()
        failed = judge.door.failed() if judge is not None else None
        if failed is not None:
            raise JudgeError(f"the model that the grader asks failed: {failed}")
        return _read(result, nonce, program)

    async def _judge(self, program: GraderProgram) -> JudgeDoor | None:
        if not program.asks_model or program.runs_code:
            return None
        if self._open_judge is None:
            raise JudgeError(
                "the task's grader asks a judge model, and there is none; give"
                " --supervisor PROVIDER/NAME"
            )
        return await self._open_judge()


def _workspace(
    program: GraderProgram, evidence: Evidence
) -> tuple[dict[str, bytes | Path], list[str]]:
    """The frozen workspace without what the agent put where hidden files belong, and flags."""
    root = evidence.files_root / program.workspace.lstrip("/")
    files: dict[str, bytes | Path] = {}
    flags: list[str] = []
    tops = sorted(root.iterdir()) if root.is_dir() and not root.is_symlink() else []
    for top in tops:
        if top.name == HIDDEN:
            flags.append("agent-wrote-gt")
        elif not top.is_symlink():
            files[f"{program.workspace}/{top.name}"] = top
    skipped = any(entry.skipped for entry in evidence.manifest.entries)
    if skipped or evidence.manifest.truncated:
        flags.append("evidence-incomplete")
    return files, flags


def _supplies(
    program: GraderProgram, transcript: str, audits: Mapping[str, JsonValue]
) -> dict[str, bytes | Path]:
    job = {
        "grader": f"{HOME}/grader.py",
        "transcript": TRANSCRIPT,
        "workspace": program.workspace,
        "lib": f"{HOME}/lib",
        "audits": dict(audits),
    }
    put: dict[str, bytes | Path] = {
        f"{HOME}/job.json": json.dumps(job).encode(),
        f"{HOME}/grader.py": program.source.encode("utf-8", "replace"),
        f"{HOME}/runner.py": (_HERE / "wild_runner.py").read_bytes(),
        f"{HOME}/lib/openai.py": (_HERE / "wild_openai.py").read_bytes(),
        TRANSCRIPT: transcript.encode("utf-8", "replace"),
    }
    for name, path in program.hidden.items():
        put[f"{program.workspace}/{name}"] = path
    return put


async def _run(
    environment: Environment, program: GraderProgram, judge: JudgeDoor | None
) -> tuple[ExecResult, str]:
    await environment.exec(_OPEN_ROOT, user="root", cwd="/")
    nonce = secrets.token_hex(16)
    result = await environment.exec(
        ["python3", "-I", f"{HOME}/runner.py", f"{HOME}/job.json"],
        stdin=f"{nonce}\n".encode(),
        cwd=f"{HOME}/tmp",
        env={
            "HOME": f"{HOME}/home",
            "TMPDIR": f"{HOME}/tmp",
            "PYTHONDONTWRITEBYTECODE": "1",
            **(_variables(judge) if judge is not None else {}),
        },
        timeout_s=program.timeout_s + _MARGIN_S,
        max_bytes=_MAX_OUTPUT,
    )
    return result, nonce


def _variables(judge: JudgeDoor) -> dict[str, str]:
    """What graders read to find their judge. The token is worth nothing elsewhere."""
    base, token = f"{judge.door.url}/v1", judge.door.token
    return {
        "OPENROUTER_API_KEY": token,
        "OPENROUTER_BASE_URL": base,
        "OPENAI_API_KEY": token,
        "OPENAI_BASE_URL": base,
        "JUDGE_MODEL": judge.door.model,
    }


def _emptied(documents: JsonValue) -> JsonValue:
    """Audit documents in which nothing happened."""
    if not isinstance(documents, dict):
        return documents
    return {
        path: {k: cast("JsonValue", []) for k, v in document.items() if isinstance(v, list)}
        for path, document in documents.items()
        if isinstance(document, dict)
    }


def _read(result: ExecResult, nonce: str, program: GraderProgram) -> _Answer:
    if result.timed_out:
        return _Answer({}, f"did not end within {program.timeout_s:g} s")
    mark = f"{nonce} ".encode()
    lines = [line for line in result.stdout.splitlines() if line.startswith(mark)]
    try:
        answer = cast("JsonValue", json.loads(lines[-1][len(mark) :])) if lines else None
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        told = result.stderr[-300:].decode("utf-8", "replace").strip()
        return _Answer({}, f"ended with exit code {result.exit_code} and no answer: {told}")
    if answer.get("status") != "returned":
        return _Answer({}, f"{answer.get('status')}: {answer.get('reason')}")
    values, unusual = answer.get("values"), answer.get("unusual")
    found = values if isinstance(values, dict) else {}
    strange = {k: str(v) for k, v in unusual.items()} if isinstance(unusual, dict) else {}
    return _Answer(found, why_unusable(found, strange))
