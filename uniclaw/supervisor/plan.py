"""Which jobs of a rubric must be done apart, in a round with these files."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from pydantic import JsonValue

from uniclaw.hidden.rubric import CommandCheck, CsvCheck, ImageCheck, PythonCheck
from uniclaw.supervisor.apart import CommandOutput, Job, JobKey
from uniclaw.supervisor.checks.tables import WORKBOOK_SUFFIXES
from uniclaw.supervisor.frozen import FrozenFiles, Unreadable
from uniclaw.supervisor.lines import Line, Part, parts

_FILE_TIMEOUT_S = 60.0


def command_checks(lines: Sequence[Line]) -> tuple[tuple[str, CommandCheck], ...]:
    """Ids and checks of everything that runs code of the agent's."""
    return tuple(
        (part.id, part.check)
        for line in lines
        for part in parts(line)
        if isinstance(part.check, CommandCheck)
    )


def plan_jobs(
    lines: Sequence[Line], files: FrozenFiles, commands: Mapping[str, CommandOutput]
) -> tuple[Job, ...]:
    """Jobs for the grader environment.

    Args:
        lines: of the rubric.
        files: the round's artifacts.
        commands: outputs of the command checks, for the checks in their `then`.
    """
    return tuple(
        job for line in lines for part in parts(line) for job in _jobs(part, files, commands)
    )


def _jobs(part: Part, files: FrozenFiles, commands: Mapping[str, CommandOutput]) -> Iterator[Job]:
    seen = files
    if part.in_command is not None:
        output = commands.get(part.in_command)
        if output is None or output.layer is None:
            return
        seen = files.below(output.base, output.layer)
    base = str(seen.base)
    match part.check:
        case PythonCheck() as check:
            payload: dict[str, JsonValue] = {
                "file": check.file,
                "function": check.function,
                "args": dict(check.args),
            }
            yield Job(
                key=JobKey(part.id),
                kind="python",
                payload=payload,
                base=base,
                timeout_s=check.timeout_s,
            )
        case CsvCheck() as check:
            for path in _readable(seen, check.path):
                if PurePosixPath(path).suffix.lower() in WORKBOOK_SUFFIXES:
                    payload = {"path": path, "sheet": check.sheet}
                    yield _file_job(part, "table", path, payload, base)
        case ImageCheck() as check if check.ocr_contains:
            for path in _readable(seen, check.path):
                payload = {"path": path, "language": check.ocr_language}
                yield _file_job(part, "ocr", path, payload, base)
        case _:
            return


def _file_job(part: Part, kind: str, path: str, payload: Mapping[str, JsonValue], base: str) -> Job:
    return Job(
        key=JobKey(part.id, path),
        kind="table" if kind == "table" else "ocr",
        payload=payload,
        base=base,
        timeout_s=_FILE_TIMEOUT_S,
    )


def _readable(files: FrozenFiles, pattern: str) -> tuple[str, ...]:
    """Paths that a file check will look at; none where it will say why there is none."""
    try:
        return tuple(entry.path for entry in files.readable(pattern))
    except Unreadable:
        return ()
