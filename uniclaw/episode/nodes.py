"""The nodes of the episode graph. Each finds its own result after a crash and never acts twice."""

import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from langgraph.types import Command
from pydantic import JsonValue

from uniclaw.environments.services import Services
from uniclaw.episode.boundary import continue_from, keep
from uniclaw.episode.files import TextFile
from uniclaw.episode.provision import PROXY_CERTIFICATE, bring_in
from uniclaw.episode.redaction import redact_tree
from uniclaw.episode.referee import Draft
from uniclaw.episode.seat import Seat
from uniclaw.episode.staging import render_round, staged
from uniclaw.episode.state import (
    ExecuteInput,
    FreezeInput,
    NodeName,
    ProvisionInput,
    RelayInput,
    ScreenInput,
    SettleInput,
    SimulateInput,
    SuperviseInput,
)
from uniclaw.errors import EnvironmentKilledByAgent, InfraError, UniclawError, UserError
from uniclaw.failpoints import reach, reach_node
from uniclaw.hidden.verdict import Verdict
from uniclaw.ports import Environment
from uniclaw.records import (
    NETWORK_PROBE,
    Decision,
    EventKind,
    Manifest,
    Outcome,
    ProbeResult,
    Record,
    StopReason,
    Turn,
    UserView,
)
from uniclaw.store.atomic import to_json
from uniclaw.trajectory import Evidence

PROBE_S = 20.0
ENVIRONMENT_GONE = "environment"
"""`Turn.budget` of a turn whose agent ended its own environment: no further turn can follow."""
WORK_BYTES = 400_000
"""Of the executor's files, what screening reads as visible."""

Go = Command[NodeName]
In = TypeVar("In", bound=Record, contravariant=True)


class Node(Protocol[In]):
    """A graph node over one input type."""

    async def __call__(self, state: In) -> Go:
        """Act and say where to go."""
        ...


class Frozen(Record):
    """What freeze left of a round, beside the bytes."""

    manifest: Manifest
    probes: tuple[ProbeResult, ...] = ()


def _go(to: NodeName, **update: JsonValue) -> Go:
    return Command(update=update, goto=to)


def ended(outcome: Outcome, reason: str | None, *, retry: bool | None = None) -> Go:
    """Leave for `settle`; `retry` None leaves it to the outcome whether another attempt helps."""
    return _go("settle", outcome=outcome.value, reason=reason, retry=retry)


def guarded(
    body: Callable[[Seat, In], Awaitable[Go]], seats: Mapping[str, Seat], kind: type[In]
) -> Node[In]:
    """A node: finds its seat, and turns typed errors into the outcome they stand for."""
    name = kind.__name__.removesuffix("Input").lower()

    async def node(state: In) -> Go:
        episode = str(getattr(state, "episode"))  # noqa: B009 - every input has it
        reach_node(name, "enter")
        try:
            go = await body(seats[episode], state)
        except UserError as error:
            said = seats[episode].spec.secrets.redact(str(error))
            go = ended(Outcome.INFRA_ERROR, said, retry=False)
        except UniclawError as error:
            said = seats[episode].spec.secrets.redact(f"{type(error).__name__}: {error}")
            go = ended(Outcome(error.outcome), said, retry=error.retry)
        reach_node(name, "leave")
        return go

    node.__annotations__["state"] = kind
    return node


async def provision(seat: Seat, state: ProvisionInput) -> Go:
    """Start the environment, bring in what the executor may have, open the harness."""
    spec, task, origin = seat.spec, seat.spec.task, seat.origin
    if not seat.files.intend(0, "provision"):
        raise InfraError("this attempt was cut off; a new one starts from the beginning")
    if origin is not None:
        with seat.phase("provision"):
            await continue_from(seat, origin)
        verdict = seat.files.ref(origin.round, "verdict")
        message = seat.files.ref(origin.round, "message")
        if origin.ended is not None:
            return ended(*origin.ended)
        return _go("relay", round=origin.round, visit=0, message_ref=message, verdict_ref=verdict)
    with seat.phase("provision"):
        environment = await seat.factory.start(spec.environment)
        seat.environment, seat.container = environment, environment.name
        reach("node.provision.environment")
        seat.services = Services(seat.factory, spec.bundle.sidecars, spec.environment.labels)
        await seat.services.start(environment)
        if seat.proxy is not None:
            await environment.put({PROXY_CERTIFICATE: seat.proxy.certificate}, mode=0o644)
        await bring_in(environment, spec.bundle)
        seat.harness = await seat.open_harness(environment)
        seat.baseline = await environment.freeze(
            task.artifact_roots,
            seat.files.root / "baseline",
            seat.freeze_limits,
            baseline=None,
        )
        seat.files.save("baseline.json", seat.baseline)
    seat.watch("the instruction", task.instruction)
    ref = seat.files.save(seat.files.ref(0, "message"), TextFile(text=task.instruction))
    return _go("execute", round=0, visit=0, message_ref=ref)


async def execute(seat: Seat, state: ExecuteInput) -> Go:
    """Deliver the message and let the executor work."""
    files, number = seat.files, state.round
    ref = files.ref(number, "turn")
    if not files.has(ref):
        if not files.intend(number, "execute"):
            raise InfraError("a turn was cut off half-way; a new attempt starts")
        reach("node.execute.intent")
        message = files.load(state.message_ref, TextFile).text
        done = seat.turns(number - 1)
        harness = seat.need_harness()
        await seat.need_services().begin_round(number)
        if seat.proxy is not None:
            seat.proxy.begin_round(number)
        async with staged(seat, number):
            with seat.phase("execute", number):
                try:
                    turn = await harness.turn(message, seat.turn_limits(done))
                except EnvironmentKilledByAgent as error:
                    turn = Turn(
                        stop=StopReason.RESOURCES,
                        events=(),
                        final_message="",
                        executor_s=seat.seconds_so_far("execute", number),
                        budget=ENVIRONMENT_GONE,
                        detail=str(error),
                    )
        reach("node.execute.turn")
        files.save(ref, seat.spec.secrets.redact_record(turn))
    turn = files.load(ref, Turn)
    for event in turn.events:
        if event.kind is not EventKind.MESSAGE or event.role != "user":
            said = f"{event.text}\n{to_json(dict(event.arguments or {}))}"
            seat.watch(f"event {event.id}", said)
    if turn.failure is not None:
        return ended(Outcome(turn.failure), turn.detail)
    return _go("freeze", turn_ref=ref)


async def freeze(seat: Seat, state: FreezeInput) -> Go:
    """Stop the agent's processes, take probes, copy the artifact roots out whole."""
    files, number = seat.files, state.round
    ref = files.ref(number, "frozen")
    if not files.has(ref):
        environment = seat.need_environment()
        with seat.phase("freeze", number):
            frozen = await _freeze_all(seat, environment, number)
        reach("node.freeze.copied")
        files.save(ref, frozen)
    for entry in files.load(ref, Frozen).manifest.entries:
        seat.watch(f"artifact path {entry.path!r}", entry.path)
    evidence = load_evidence(seat, number)
    for text in evidence.texts(max_bytes=WORK_BYTES):
        seat.watch(f"an artifact of round {number}", text)
    await render_round(seat, number, evidence)
    return _go("supervise", evidence_ref=ref)


async def _freeze_all(seat: Seat, environment: Environment, number: int) -> Frozen:
    """Also of an environment that the agent ended: it is judged on what can still be read."""
    probes: list[ProbeResult] = []
    try:
        await environment.kill_all()
        for probe in seat.spec.task.probes:
            probes.append(await environment.probe(probe.id, probe.run, timeout_s=PROBE_S))
        manifest = await _copy_out(seat, environment, number)
    except EnvironmentKilledByAgent:
        manifest = await _copy_what_is_left(seat, environment, number)
    services = await seat.need_services().results()
    secrets, root = seat.spec.secrets, seat.files.evidence_root(number)
    found = (*probes, *services, *_network(seat))
    return Frozen(
        manifest=redact_tree(manifest, root, secrets),
        probes=tuple(secrets.redact_record(probe) for probe in found),
    )


def _network(seat: Seat) -> list[ProbeResult]:
    """What went through the recording proxy, as the probe result `network`."""
    if seat.proxy is None:
        return []
    if seat.proxy.breach is not None:
        raise seat.proxy.breach
    log = to_json(seat.proxy.log())
    return [ProbeResult(id=NETWORK_PROBE, exit_code=0, stdout=log)]


async def _copy_out(seat: Seat, environment: Environment, number: int) -> Manifest:
    return await environment.freeze(
        seat.spec.task.artifact_roots,
        seat.files.evidence_root(number),
        seat.freeze_limits,
        baseline=seat.baseline,
    )


async def _copy_what_is_left(seat: Seat, environment: Environment, number: int) -> Manifest:
    try:
        return await _copy_out(seat, environment, number)
    except EnvironmentKilledByAgent:
        return Manifest(truncated=True)


def load_evidence(seat: Seat, number: int) -> Evidence:
    """Evidence of a round as stored."""
    frozen = seat.files.load(seat.files.ref(number, "frozen"), Frozen)
    return Evidence(
        round=number,
        task=seat.spec.task,
        files_root=seat.files.evidence_root(number),
        manifest=frozen.manifest,
        turns=seat.turns(number),
        probes=frozen.probes,
    )


async def supervise(seat: Seat, state: SuperviseInput) -> Go:
    """Score the round, and decide whether another follows."""
    files, number = seat.files, state.round
    ref = files.ref(number, "verdict")
    turns = seat.turns(number)
    if not files.has(ref):
        with seat.phase("supervise", number):
            verdict = await seat.supervisor.supervise(
                load_evidence(seat, number), rounds_left=seat.rounds_left(number, turns)
            )
        files.save(ref, verdict)
    verdict = files.load(ref, Verdict)
    if verdict.score is None:
        return ended(undecided(verdict), verdict.reason)
    if verdict.decision is Decision.CONTINUE:
        if seat.spec.snapshots:
            await keep(seat, number)
        if seat.spec.last_round == number:
            return ended(Outcome.ROUNDS_EXHAUSTED, "played to here for others to continue from")
        return _go("relay", verdict_ref=ref, visit=0)
    return ended(*outcome_of(seat, verdict, turns))


def undecided(verdict: Verdict) -> Outcome:
    """Whose fault it is that there is no score: the judge's where a judge line has no value."""
    judged = any(line.result.value is None and line.decided_by != "code" for line in verdict.lines)
    return Outcome.JUDGE_ERROR if judged else Outcome.INFRA_ERROR


def outcome_of(seat: Seat, verdict: Verdict, turns: tuple[Turn, ...]) -> tuple[Outcome, str | None]:
    """The scored outcome of a verdict that ends the episode (DESIGN 4)."""
    if verdict.decision is Decision.PASS:
        return Outcome.PASS, None
    used_up = seat.used_up(turns)
    last = turns[-1]
    if used_up is StopReason.BUDGET:
        return Outcome.BUDGET, last.detail
    if used_up is StopReason.TIMEOUT or last.stop is StopReason.TIMEOUT:
        return Outcome.TIMEOUT, last.detail or "executor seconds used up"
    if used_up is StopReason.RESOURCES:
        return Outcome.EXECUTOR_INCOMPLETE, last.detail
    if not verdict.recoverable:
        return Outcome.FAIL, verdict.rationale
    if last.stop in (StopReason.CRASHED, StopReason.RESOURCES) or verdict.missing_artifacts:
        return Outcome.EXECUTOR_INCOMPLETE, last.detail or verdict.rationale
    if seat.spec.budget.feedback_rounds == 0:
        return Outcome.FAIL, verdict.rationale
    return Outcome.ROUNDS_EXHAUSTED, verdict.rationale


async def relay(seat: Seat, state: RelayInput) -> Go:
    """Project the verdict by the policy; what results is all the simulator will see."""
    files, number = seat.files, state.round
    ref = files.ref(number, "view-0")
    if not files.has(ref):
        with seat.phase("relay", number):
            view = seat.referee.view(
                verdict=files.load(state.verdict_ref, Verdict),
                evidences=[load_evidence(seat, n) for n in range(number + 1)],
                messages=[
                    files.load(files.ref(n, "message"), TextFile).text for n in range(number + 1)
                ],
                rounds_left=seat.rounds_left(number, seat.turns(number)),
            )
            seat.watch("the user simulator's view", view.model_dump_json())
            files.save(ref, view)
    return _go("simulate", view_ref=ref, visit=0)


async def simulate(seat: Seat, state: SimulateInput) -> Go:
    """The user simulator writes a draft from its view, and from nothing else."""
    ref = seat.files.ref(state.round, f"draft-{state.visit}")
    if not seat.files.has(ref):
        view = seat.files.load(state.view_ref, UserView)
        with seat.phase("simulate", state.round):
            text = await seat.simulator.draft(view)
        seat.files.save(ref, TextFile(text=text))
    return _go("screen", draft_ref=ref)


async def screen(seat: Seat, state: ScreenInput) -> Go:
    """Compare the draft with what is hidden; deliver, ask again, or replace it."""
    files, number, visit = seat.files, state.round, state.visit
    view = files.load(state.view_ref, UserView)
    ref = files.ref(number, f"screen-{visit}")
    if not files.has(ref):
        with seat.phase("screen", number):
            text = files.load(state.draft_ref, TextFile).text
            seat.watch(f"draft {visit} of round {number}", text)
            files.save(
                ref,
                await seat.referee.judge_draft(
                    text, visit, view, _work(seat, number), _history(seat, number)
                ),
            )
    draft = files.load(ref, Draft)
    if draft.again:
        next_view = files.ref(number, f"view-{visit + 1}")
        if not files.has(next_view):
            files.save(next_view, view.model_copy(update={"reminder": True}))
        return _go("simulate", view_ref=next_view, visit=visit + 1)
    if draft.feedback is None:
        raise InfraError("screening delivered nothing")
    message = files.ref(number + 1, "message")
    if not files.has(message):
        files.save(files.ref(number, "feedback"), draft.feedback)
        files.save(message, TextFile(text=draft.feedback.text))
    return _go("execute", round=number + 1, visit=0, message_ref=message)


def _work(seat: Seat, number: int) -> list[str]:
    """Texts that the executor wrote or saw itself, whatever the policy shows of them."""
    evidence = load_evidence(seat, number)
    texts = [event.text for event in evidence.events if event.text]
    texts += [to_json(dict(event.arguments)) for event in evidence.events if event.arguments]
    texts += [entry.path for entry in evidence.manifest.entries]
    return texts + evidence.texts(max_bytes=WORK_BYTES)


def _history(seat: Seat, number: int) -> list[str]:
    """Feedback delivered in earlier rounds."""
    return [
        seat.files.load(seat.files.ref(n, "message"), TextFile).text for n in range(1, number + 1)
    ]


async def settle(seat: Seat, state: SettleInput) -> dict[str, str]:
    """Tear everything down; the runner then writes the record in one step."""
    reach_node("settle", "enter")
    await tear_down(seat)
    reach_node("settle", "leave")
    return {"outcome": state.outcome}


async def tear_down(seat: Seat) -> None:
    """Close harness, services and environment, also after a failure. Idempotent."""
    with seat.phase("teardown"):
        harness, seat.harness = seat.harness, None
        services, seat.services = seat.services, None
        environment, seat.environment = seat.environment, None
        async with contextlib.AsyncExitStack() as stack:
            for part in (environment, services, harness):
                if part is not None:
                    stack.push_async_callback(part.close)
