"""Agents that cheat without working, and what mutant scripts say about themselves.

A good rubric gives none of the shortcuts a pass, and each mutant loses exactly its line.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.environments.services import PREFIX
from uniclaw.errors import UserError
from uniclaw.hidden.rubric import (
    AllCheck,
    AnyCheck,
    Check,
    CommandCheck,
    GraderCheck,
    NotCheck,
    Rubric,
)
from uniclaw.records import Event, EventKind, ProbeResult, Task, Turn
from uniclaw.store.atomic import to_json
from uniclaw.suites.bundle import TaskBundle

_DIRECTIVE = re.compile(r"#\s*(also|drop-trace|drop-audit|set-state|message):\s*(.*)")
_SET_STATE = re.compile(r"(\S+)\s+(/\S*)\s+(.+)")


def _paths(check: Check) -> Iterator[str]:
    path = getattr(check, "path", None)
    if isinstance(path, str):
        yield path
    if isinstance(check, AllCheck | AnyCheck):
        for part in check.of:
            yield from _paths(part)
    elif isinstance(check, NotCheck):
        yield from _paths(check.check)
    elif isinstance(check, CommandCheck):
        yield from check.keep
    elif isinstance(check, GraderCheck):
        yield from check.outputs


def artifact_names(task: Task, rubric: Rubric) -> tuple[str, ...]:
    """Absolute paths of every artifact that the rubric names; globs become a plain name."""
    names: dict[str, None] = {}
    for checkpoint in rubric.checkpoints:
        wanted = [*_paths(checkpoint.check)]
        if checkpoint.artifact:
            wanted.append(checkpoint.artifact)
        for path in wanted:
            plain = re.sub(r"[*?\[\]]+", "x", path)
            absolute = PurePosixPath(task.artifact_roots[0]) / plain
            if any(absolute.is_relative_to(root) for root in task.artifact_roots):
                names[str(absolute)] = None
    return tuple(names)


def empty_files(bundle: TaskBundle, rubric: Rubric) -> dict[str, bytes]:
    """Every artifact by name, without content."""
    return {name: b"" for name in artifact_names(bundle.task, rubric)}


def copied_inputs(bundle: TaskBundle, rubric: Rubric) -> dict[str, bytes]:
    """Every artifact filled with an input: one of the same type where there is one."""
    sources = sorted(bundle.sources.values())
    if not sources:
        return {}
    files: dict[str, bytes] = {}
    for name in artifact_names(bundle.task, rubric):
        suffix = PurePosixPath(name).suffix
        same = [s for s in sources if s.suffix == suffix]
        files[name] = (same or sources)[0].read_bytes()
    return files


def keyword_stuffing(bundle: TaskBundle, rubric: Rubric) -> dict[str, bytes]:
    """Every artifact filled with the instruction and all words of the rubric's descriptions."""
    words = "\n".join(c.description for c in rubric.checkpoints)
    text = f"{bundle.task.instruction}\n{words}\n".encode()
    return dict.fromkeys(artifact_names(bundle.task, rubric), text)


SHORTCUTS = {
    "empty_files": empty_files,
    "copied_inputs": copied_inputs,
    "keyword_stuffing": keyword_stuffing,
}


class Mutant(NamedTuple):
    """One broken attempt."""

    line: str
    script: str
    file: str
    also: tuple[str, ...] = ()
    drop_trace: str | None = None
    message: str | None = None
    drop_audit: str | None = None
    """Entries of the services' audit logs whose JSON matches are dropped."""
    set_state: tuple[str, ...] = ()
    """`SERVICE POINTER JSON`: what a service's state is said to hold there."""


def read_mutants(directory: Path | None) -> tuple[Mutant, ...]:
    """All `<line-id>[.N].sh` of a directory, sorted by name.

    Raises:
        UserError: a file is not UTF-8.
    """
    if directory is None or not directory.is_dir():
        return ()
    return tuple(_read_mutant(file) for file in sorted(directory.glob("*.sh")))


def _read_mutant(file: Path) -> Mutant:
    try:
        script = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError("not UTF-8", file=file, value=str(error)) from error
    said: dict[str, str] = {}
    states: list[str] = []
    for line in script.splitlines():
        if not line.startswith("#"):
            break
        if found := _DIRECTIVE.match(line):
            said[found[1]] = found[2].strip()
            if found[1] == "set-state":
                states.append(_checked_state(found[2].strip(), file))
    return Mutant(
        line=re.sub(r"(\.\d+)?\.sh$", "", file.name),
        script=script,
        file=file.name,
        also=tuple(x.strip() for x in said.get("also", "").split(",") if x.strip()),
        drop_trace=said.get("drop-trace"),
        message=said.get("message"),
        drop_audit=said.get("drop-audit"),
        set_state=tuple(states),
    )


def _checked_state(text: str, file: Path) -> str:
    found = _SET_STATE.fullmatch(text)
    try:
        if found is not None:
            json.loads(found[3])
            return text
    except ValueError:
        pass
    raise UserError("expected SERVICE POINTER JSON", file=file, field="set-state", value=text)


def mutate_probes(probes: tuple[ProbeResult, ...], mutant: Mutant) -> tuple[ProbeResult, ...]:
    """What the services logged and hold, as the mutant wants it.

    Raises:
        UserError: `set-state` names a place that is not there.
    """
    return tuple(_mutate_probe(p, mutant) if p.id.startswith(PREFIX) else p for p in probes)


def _mutate_probe(probe: ProbeResult, mutant: Mutant) -> ProbeResult:
    document = json.loads(probe.stdout)
    if mutant.drop_audit is not None:
        pattern = re.compile(mutant.drop_audit)
        document["audit"] = [e for e in document["audit"] if not pattern.search(to_json(e))]
    for text in mutant.set_state:
        found = _SET_STATE.fullmatch(text)
        if found is not None and f"{PREFIX}{found[1]}" == probe.id:
            where = f"{mutant.file}: {found[2]}"
            _set(document["state"], found[2].split("/")[1:], json.loads(found[3]), where)
    return probe.model_copy(update={"stdout": json.dumps(document, ensure_ascii=False)})


def _set(place: JsonValue, steps: list[str], value: JsonValue, where: str) -> None:
    step = steps[0].replace("~1", "/").replace("~0", "~")
    try:
        if isinstance(place, dict) and len(steps) == 1:
            place[step] = value
        elif isinstance(place, dict):
            _set(place[step], steps[1:], value, where)
        elif isinstance(place, list) and len(steps) == 1:
            place[int(step)] = value
        elif isinstance(place, list):
            _set(place[int(step)], steps[1:], value, where)
        else:
            raise KeyError(step)
    except (KeyError, IndexError, ValueError) as error:
        raise UserError("no such place in the state", field="set-state", value=where) from error


def mutate_turns(turns: tuple[Turn, ...], mutant: Mutant) -> tuple[Turn, ...]:
    """The trajectory as the mutant wants it."""
    changed = turns
    if mutant.drop_trace is not None:
        pattern = re.compile(mutant.drop_trace)
        changed = tuple(
            t.model_copy(update={"events": _without(t.events, pattern)}) for t in changed
        )
    if mutant.message is not None:
        last = changed[-1].model_copy(update={"final_message": mutant.message})
        changed = (*changed[:-1], last)
    return changed


def _without(events: tuple[Event, ...], pattern: re.Pattern[str]) -> tuple[Event, ...]:
    dropped = {
        e.call_id
        for e in events
        if e.kind is EventKind.TOOL_CALL and pattern.search(to_json(dict(e.arguments or {})))
    }
    return tuple(e for e in events if e.call_id is None or e.call_id not in dropped)
