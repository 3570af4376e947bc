"""The three protocols: Environment, Harness, ChatModel, and the values that cross them.

A port's error behaviour is part of it; the conformance suites in `uniclaw.testing`
hold every adapter to what is written here. Nothing here knows the hidden side.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol, runtime_checkable

from pydantic import JsonValue

from uniclaw.config import Effort
from uniclaw.records import (
    Count,
    Manifest,
    NonNegative,
    ProbeResult,
    Record,
    RoleUsage,
    Task,
    Turn,
    Usage,
)

# --- environment -------------------------------------------------------------------------


class ExecResult(NamedTuple):
    """What one command left behind."""

    exit_code: int | None
    """None when it was killed before it had one."""
    stdout: bytes
    stderr: bytes
    truncated: bool
    """Output went past `max_bytes`; head and tail were kept."""
    total_bytes: int
    """Bytes written to both streams, also those dropped."""
    timed_out: bool
    duration_s: float
    oom_killed: bool = False
    """The kernel killed something of this environment for memory while the command ran."""


class FreezeLimits(Record):
    """Caps of one artifact copy."""

    max_files: Count = 20_000
    max_file_bytes: Count = 200_000_000
    max_total_bytes: Count = 1_000_000_000


class Limits(Record):
    """Resources of one environment. None means the engine's default."""

    memory_bytes: Count | None = 2_000_000_000
    cpus: NonNegative | None = 2.0
    pids: Count | None = 512
    disk_bytes: Count | None = None
    """Where the storage driver supports it; otherwise checked at freeze."""


class EnvironmentSpec(Record):
    """What to start. Paths inside are absolute POSIX paths."""

    image: str
    """Name of a recipe under `environments/` (docker adapter) or ignored (process adapter)."""
    user: Literal["agent", "root"] = "agent"
    workspace: str = "/workspace"
    writable: tuple[str, ...] = ()
    """Further directories created and owned by the agent's user."""
    limits: Limits = Limits()
    env: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    """`uniclaw.run`, `uniclaw.episode` ...; the adapter adds `uniclaw` and `uniclaw.owner`."""
    network: Literal["none", "proxy"] = "none"
    """`proxy`: the directory of `door` also holds the socket of a recording proxy."""
    door: str | None = None
    """Host directory with the gateway's socket: the one peer that can be reached. None: no peer."""
    read_only_mounts: Mapping[str, str] = {}
    """Absolute inside path -> host directory, only for grader environments."""
    session: bool = False
    """Whether the recipe's session (a display, say) is started; the agent's environment has it."""
    beside: str | None = None
    """Name of a running environment of this factory whose network is shared, and nothing else
    of it: `localhost` is the same for both. Adapters that cannot do it raise `UserError`."""


class ServiceSpec(Record):
    """A background service: a program in an environment of its own, beside the agent's."""

    name: str
    image: str = "base"
    """Name of a recipe under `environments/`."""
    command: tuple[str, ...]
    """Run as the plain user in `/service`."""
    port: Count | None = None
    """Loopback port it answers HTTP at; None: ready when anything listens, or it ended well."""
    ready_path: str = "/health"
    ready_timeout_s: NonNegative = 20.0
    env: Mapping[str, str] = {}
    files: Mapping[str, Path] = {}
    """Absolute inside path -> host file or directory. No other environment sees them."""


@runtime_checkable
class Environment(Protocol):
    """Where something runs. All methods raise `EnvironmentLost` when it died by itself."""

    @property
    def name(self) -> str:
        """Container name or directory; for records, never shown to a role."""
        ...

    async def exec(
        self,
        command: Sequence[str] | str,
        *,
        stdin: bytes = b"",
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        user: Literal["agent", "root"] | None = None,
        timeout_s: float = 60.0,
        max_bytes: int = 1_000_000,
    ) -> ExecResult:
        """Run a command (a string runs under `sh -c`), bytes in and bytes out.

        Past `timeout_s` the whole process group is killed inside the environment
        and `timed_out` is set; no survivor of the group is left. Output past `max_bytes`
        (both streams together) is drained and dropped: head and tail are kept.
        """
        ...

    async def put(self, files: Mapping[str, bytes | Path], *, mode: int | None = None) -> None:
        """Write files (bytes, or a host file or directory tree copied whole) at absolute paths.

        Parents are created; everything is owned by the environment's user. Links in a host
        tree are refused (`UserError`), and so are relative or `..` targets.
        """
        ...

    async def get(self, path: str, *, max_bytes: int = 10_000_000) -> bytes:
        """Read one regular file.

        Raises:
            FileNotFoundError: it is missing, not a regular file, or reached through a link.
            ValueError: it is larger than `max_bytes`.
        """
        ...

    async def freeze(
        self, roots: Sequence[str], into: Path, limits: FreezeLimits, *, baseline: Manifest | None
    ) -> Manifest:
        """Copy the trees under `roots` to `into/<absolute path>`; regular files only.

        Links and special files are listed and never followed; sparse files count by real
        size. With a `baseline` each entry's `change` is set, deletions included.
        """
        ...

    async def probe(self, probe_id: str, command: str, *, timeout_s: float = 20.0) -> ProbeResult:
        """Run a state probe of the task as the agent's user."""
        ...

    async def kill_all(self) -> None:
        """Kill every process of the agent's user; the environment itself lives on."""
        ...

    async def pause(self) -> None:
        """Suspend every process. `exec` is refused until `unpause`."""
        ...

    async def unpause(self) -> None:
        """Resume after `pause`."""
        ...

    async def snapshot(self, tag: str) -> str:
        """Save the file system under a tag that `fork` understands; returns it."""
        ...

    async def resources(self) -> Mapping[str, int]:
        """Counters `oom_kills`, `memory_bytes`, `pids` where the platform has them."""
        ...

    async def close(self) -> None:
        """Remove everything of it. Idempotent; never raises `EnvironmentLost`."""
        ...


class EnvironmentFactory(Protocol):
    """Makes environments of one adapter."""

    async def start(self, spec: EnvironmentSpec) -> Environment:
        """Start and return when a command can run in it."""
        ...

    async def fork(self, snapshot: str, spec: EnvironmentSpec) -> Environment:
        """Start from a snapshot of `Environment.snapshot`."""
        ...


# --- chat model --------------------------------------------------------------------------


class TextPart(Record):
    """Text of a message."""

    type: Literal["text"] = "text"
    text: str


class ImagePart(Record):
    """An image of a message."""

    type: Literal["image"] = "image"
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    data_base64: str


class ToolCall(Record):
    """A call the model asks for."""

    id: str
    name: str
    arguments: Mapping[str, JsonValue]
    invalid: str | None = None
    """The raw argument text when it was not a JSON object; `arguments` is then empty."""


class ToolSpec(Record):
    """A tool offered to the model."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]
    """JSON schema of the arguments object."""


class Message(Record):
    """One message of a chat."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[TextPart | ImagePart, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None

    @property
    def text(self) -> str:
        """All text parts, joined by newlines."""
        return "\n".join(p.text for p in self.parts if isinstance(p, TextPart))


def text_message(role: Literal["system", "user", "assistant"], text: str) -> Message:
    """A message of one text part."""
    return Message(role=role, parts=(TextPart(text=text),))


class ChatRequest(Record):
    """What a role asks of a model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    json_schema: Mapping[str, JsonValue] | None = None
    """The answer must be one JSON object of this schema; the caller still validates it."""
    max_output_tokens: Count = 4096
    temperature: NonNegative | None = None
    top_p: NonNegative | None = None
    effort: Effort | None = None
    seed: int | None = None
    purpose: str = "executor"
    """Role or step that asks; for records and scripted models, not sent to providers."""


class Completion(Record):
    """A model's answer."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Literal["stop", "tool_calls", "length", "refusal", "other"]
    usage: Usage
    model: str
    """As the provider names it."""
    waited_s: NonNegative = 0
    """Rate-limit waits before this answer."""
    attempts: Count = 1


class ChatModel(Protocol):
    """A chat model behind one provider's wire protocol."""

    @property
    def spec(self) -> str:
        """`PROVIDER/NAME`."""
        ...

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request.

        Raises:
            ProviderRateLimited: 429 or overload after all retries.
            ProviderRefused: the request itself was refused.
            ProviderBadAnswer: the provider answered outside its protocol.
            ProviderError: anything else of the provider.
            BudgetExceeded: the caller's budget does not allow another call.
        """
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


# --- harness -----------------------------------------------------------------------------


class TurnLimits(Record):
    """What a turn may still spend."""

    seconds: NonNegative | None = None
    tokens: Count | None = None
    cost_usd: NonNegative | None = None
    model_calls: Count | None = None


class ModelDoor(NamedTuple):
    """The way from inside the environment to the model, for harnesses that run there."""

    url: str
    """Root address inside the environment, without `/v1` and without a slash at its end."""
    token: str
    """Names the episode at the gateway; worthless elsewhere and after the episode."""
    model: str
    """Name of the model, as requests give it."""
    spent: Callable[[], RoleUsage]
    """What the gateway counted so far."""
    waited_s: Callable[[], float] = lambda: 0.0
    """Seconds the gateway spent waiting for rate limits so far."""
    stopped: Callable[[], str | None] = lambda: None
    """Which budget the gateway found used up, once it refuses calls for that reason."""
    failed: Callable[[], str | None] = lambda: None
    """Outcome of the episode when the upstream failed for good, such as `rate_limited`."""
    context_tokens: Count = 200_000  # the model's window, for harnesses that compact by it
    effort: Effort | None = None  # for harnesses that can ask for it


class HarnessContext(NamedTuple):
    """All a harness may know of its episode."""

    environment: Environment
    task: Task
    """With neutral ids in place of `task_id` and `family`."""
    model: ChatModel | None
    """For harnesses that are driven from the host; None for those that need no model."""
    seed: int
    round_offset: int = 0
    """First round this session plays (a fork continues later)."""
    solution: Path | None = None
    """Directory with `round-N.sh`, for the oracle only."""
    door: ModelDoor | None = None
    """For harnesses that run inside the environment and call the model by themselves."""
    session: Mapping[str, JsonValue] | None = None
    """What the harness's `session()` gave at the end of the round before, for a fork."""
    keep_picture: Callable[[bytes], str | None] | None = None  # its reference, if it is one


class Harness(Protocol):
    """An agent program."""

    @property
    def name(self) -> str:
        """As the CLI names it."""
        ...

    async def open(self) -> None:
        """Install configuration and start what must run before the first turn."""
        ...

    async def turn(self, message: str, limits: TurnLimits) -> Turn:
        """Deliver a user message and return when the agent stopped.

        Continues the session of earlier turns. A turn past its limits is stopped inside the
        environment (process group) and returned with its events so far.

        Raises:
            HarnessError: the program cannot be started or read at all.
        """
        ...

    async def close(self) -> None:
        """End the session; leaves no process behind. Idempotent."""
        ...


class Meter(Protocol):
    """Counts what a role spends."""

    def spent(self) -> RoleUsage:
        """Everything so far."""
        ...
