"""Background services of an environment: programs beside it that share its network, not its files.

Each runs in an environment of its own, so nothing of its program, seed or log can be read from
where the agent is; what it did is read from its files by the host. Must not know tasks, roles or
the hidden side.
"""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from uniclaw.environments.service_program import PROBE, RUNNER
from uniclaw.errors import EnvironmentKilledByAgent, EnvironmentLost, UserError
from uniclaw.ports import (
    Environment,
    EnvironmentFactory,
    EnvironmentSpec,
    ExecResult,
    Limits,
    ServiceSpec,
)
from uniclaw.records import ProbeResult

HOME = "/service"
STATE_DIR, CONTROL_DIR = f"{HOME}/state", f"{HOME}/control"
AUDIT, STATE = f"{STATE_DIR}/audit.jsonl", f"{STATE_DIR}/state.json"
ROUND = f"{CONTROL_DIR}/round"
LOG, ENDED = f"{CONTROL_DIR}/log", f"{CONTROL_DIR}/ended"
PREFIX = "service:"
"""Of the id of a service's probe result."""
MAX_AUDIT_BYTES = 8_000_000
MAX_STATE_BYTES = 8_000_000
LIMITS = Limits(memory_bytes=384_000_000, cpus=1.0, pids=256)

_SIGKILLED = 128 + 9
_LOG_TAIL = 2000
_START_S = 20.0
_COPY_S = 60.0
_KEPT = f"{HOME}/kept"
_COLLECTED: Mapping[str, int] = {AUDIT: MAX_AUDIT_BYTES, STATE: MAX_STATE_BYTES, ENDED: 100}
_COLLECTED_BYTES = 4 * (MAX_AUDIT_BYTES + MAX_STATE_BYTES)


@dataclass
class RunningService:
    """One service and the environment that it runs in."""

    spec: ServiceSpec
    environment: Environment

    async def start(self) -> None:
        """Start the program and wait until it answers; what it kept as state stays.

        Raises:
            EnvironmentLost: it did not get ready; the message ends with its log.
        """
        await self._script("rm -f control/ended; touch state/audit.jsonl")
        before = await self._probe("ports")
        await self.environment.exec(
            ["/bin/sh", "-c", RUNNER, "sh", *self.spec.command],
            cwd=HOME,
            env=self.spec.env,
            timeout_s=_START_S,
        )
        problem = await self._probe("ready", before)
        if problem:
            raise EnvironmentLost(
                f"service {self.spec.name!r} does not get ready: {problem}; its log ends with:"
                f" {await self.log_tail()}"
            )

    async def _probe(self, what: str, more: str = "") -> str:
        """Ask from inside the namespace: which ports listen, or why it is not ready."""
        done = await self._run_probe(what, more, 10_000)
        said = done.stdout.decode("utf-8", "replace").strip()
        if done.exit_code == 0 and not done.timed_out:
            return said
        return said or done.stderr.decode("utf-8", "replace")[-_LOG_TAIL:] or "no answer"

    async def _run_probe(self, what: str, more: str, max_bytes: int) -> ExecResult:
        spec = self.spec
        options = [str(spec.port or 0), spec.ready_path, str(spec.ready_timeout_s), more]
        return await self.environment.exec(
            ["python3", "-I", "-c", PROBE, what, ENDED, *options],
            cwd=HOME,
            timeout_s=spec.ready_timeout_s + _START_S,
            max_bytes=max_bytes,
        )

    async def _script(self, script: str, *words: str) -> int | None:
        argv = ["/bin/sh", "-c", script, "sh", *words]
        return (await self.environment.exec(argv, cwd=HOME, timeout_s=_COPY_S)).exit_code

    async def begin_round(self, number: int) -> None:
        """Tell the program which round it is, in one step."""
        script = 'printf %s "$1" > control/.round && mv control/.round control/round'
        with contextlib.suppress(EnvironmentKilledByAgent):
            if await self._script(script, str(number)) != 0:
                # Where nothing can be started inside, the engine still writes.
                await self.environment.put({ROUND: str(number).encode()})

    async def log_tail(self) -> str:
        """The end of what the program printed."""
        text = (await self._read(LOG, 1_000_000))[0]
        return text[-_LOG_TAIL:].strip() or "(nothing)"

    async def _read(self, path: str, max_bytes: int) -> tuple[str, bool]:
        """A file's text, and whether it was cut; empty when it is not there."""
        try:
            data, cut = await self.environment.get(path, max_bytes=max_bytes), False
        except FileNotFoundError:
            return "", False
        except ValueError:
            argv = ["head", "-c", str(max_bytes), path]
            done = await self.environment.exec(argv, timeout_s=_COPY_S, max_bytes=2 * max_bytes)
            data, cut = done.stdout, True
        return data.decode("utf-8", "replace"), cut

    async def result(self) -> ProbeResult:
        """What it logged and holds now, as the probe result `service:<name>`.

        Exit code 0 means that it still runs; else it is the program's own.
        """
        files, killed = await self._collect()
        audit, audit_cut = files[AUDIT]
        state, state_cut = files[STATE]
        entries, broken = _lines(audit, cut=audit_cut)
        document: dict[str, JsonValue] = {"audit": entries, "state": _json(state)}
        if broken:
            document["unreadable_audit_lines"] = broken
        ended = _SIGKILLED if killed else _exit_code(files[ENDED][0])
        if ended is not None:
            document["ended"] = {"exit_code": ended, "log": await self.log_tail()}
        return ProbeResult(
            id=f"{PREFIX}{self.spec.name}",
            exit_code=0 if ended is None else ended or 1,
            stdout=json.dumps(document, ensure_ascii=False),
            truncated=audit_cut or state_cut,
        )

    async def _collect(self) -> tuple[dict[str, tuple[str, bool]], bool]:
        """Its files with whether each was cut; and whether its environment was killed."""
        try:
            done = await self._run_probe("collect", json.dumps(_COLLECTED), _COLLECTED_BYTES)
        except EnvironmentKilledByAgent:
            return {path: await self._read(path, n) for path, n in _COLLECTED.items()}, True
        said = None if done.truncated or done.exit_code != 0 else _json(done.stdout.decode())
        if not isinstance(said, dict):
            # Nothing can be started inside, or it is too much for one answer.
            return {path: await self._read(path, n) for path, n in _COLLECTED.items()}, False
        found: dict[str, tuple[str, bool]] = {}
        for path in _COLLECTED:
            item = said.get(path)
            text, cut = item if isinstance(item, list) else ("", False)
            found[path] = (str(text), cut is True)
        return found, False

    async def keep(self, name: str) -> None:
        """Remember the state under a name, inside."""
        await self._script(f'rm -rf {_KEPT}/"$1"; mkdir -p {_KEPT}; cp -a state {_KEPT}/"$1"', name)

    async def back_to(self, name: str) -> None:
        """Set the state back; where it had changed, the program starts anew on it."""
        script = f'rm -f control/round; test ! -e control/ended && diff -rq state {_KEPT}/"$1"'
        if await self._script(script, name) == 0:
            return
        await self.environment.kill_all()
        await self._script(f'rm -rf state; cp -a {_KEPT}/"$1" state', name)
        await self.start()


@dataclass
class Services:
    """All background services of one environment. Close before the environment."""

    factory: EnvironmentFactory
    specs: Sequence[ServiceSpec]
    labels: Mapping[str, str]
    running: list[RunningService] = field(default_factory=list[RunningService])

    async def start(self, beside: Environment, snapshots: Mapping[str, str] | None = None) -> None:
        """Start all of them beside an environment.

        Args:
            beside: whose network they share.
            snapshots: service name -> snapshot to start from, for a fork.

        Raises:
            UserError: the adapter cannot do it.
            EnvironmentLost: one did not get ready.
        """
        saved = snapshots or {}
        refuse_taken_names(self.specs)
        await _all(self._place(spec, beside, saved.get(spec.name)) for spec in self.specs)
        order = [spec.name for spec in self.specs]
        self.running.sort(key=lambda service: order.index(service.spec.name))
        named = [s for s in self.running if s.spec.port is not None]
        await _all(service.start() for service in named)
        for service in self.running:
            # One at a time: each is ready when something new listens.
            if service.spec.port is None:
                await service.start()

    async def _place(self, spec: ServiceSpec, beside: Environment, saved: str | None) -> None:
        place = _environment(spec, beside.name, self.labels)
        if saved is not None:
            environment = await self.factory.fork(saved, place)
        else:
            environment = await self.factory.start(place)
        # Known before anything else can fail, so that it is closed.
        self.running.append(RunningService(spec, environment))
        if saved is None and spec.files:
            await environment.put(spec.files)

    async def begin_round(self, number: int) -> None:
        """Tell every program which round begins."""
        await _all(service.begin_round(number) for service in self.running)

    async def results(self) -> tuple[ProbeResult, ...]:
        """One probe result each, in the order of the task."""
        return tuple(await asyncio.gather(*(service.result() for service in self.running)))

    async def keep(self, name: str) -> None:
        """Remember every state under a name."""
        await _all(service.keep(name) for service in self.running)

    async def back_to(self, name: str) -> None:
        """Set every state back."""
        await _all(service.back_to(name) for service in self.running)

    async def snapshot(self, tag: str) -> Mapping[str, str]:
        """Save every service's file system; service name -> snapshot."""
        return {
            service.spec.name: await service.environment.snapshot(f"{tag}-{service.spec.name}")
            for service in self.running
        }

    async def close(self) -> None:
        """Remove all of them. Idempotent."""
        running, self.running = self.running, []
        await _all(service.environment.close() for service in running)


async def _all(steps: Iterable[Awaitable[None]]) -> None:
    """Wait for all, also when one fails; then the first failure."""
    for result in await asyncio.gather(*steps, return_exceptions=True):
        if isinstance(result, BaseException):
            raise result


def refuse_taken_names(specs: Sequence[ServiceSpec]) -> None:
    """Refuse two services of one name.

    Raises:
        UserError: names it.
    """
    names = [spec.name for spec in specs]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UserError("stands twice; expected once", field="services", value=twice[0])


def _environment(spec: ServiceSpec, beside: str, labels: Mapping[str, str]) -> EnvironmentSpec:
    return EnvironmentSpec(
        image=spec.image,
        user="agent",
        workspace=HOME,
        writable=(STATE_DIR, CONTROL_DIR),
        limits=LIMITS,
        labels={**labels, "uniclaw.role": "service", "uniclaw.service": spec.name},
        beside=beside,
    )


def _lines(text: str, *, cut: bool) -> tuple[list[JsonValue], int]:
    """The entries of a log of JSON lines, and how many lines are none."""
    lines = text.splitlines()
    if cut and lines:
        lines.pop()
    found: list[JsonValue] = []
    broken = 0
    for line in lines:
        if line.strip():
            value = _json(line)
            if value is None:
                broken += 1
            else:
                found.append(value)
    return found, broken


def _exit_code(text: str) -> int | None:
    """Of a program that is over; None while it runs."""
    said = text.strip()
    return (int(said) if said.isdecimal() else 1) if said else None


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(name)


def _json(text: str) -> JsonValue:
    """A JSON value; None when it is none."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
