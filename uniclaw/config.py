"""One settings tree. Precedence: command line, environment variables, file, default.

Nothing is read at import; `resolve` is given the three sources and says where each value
came from. Keys of providers are no settings: they are kept apart and never stored.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record

T = TypeVar("T", bound=Record)
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
"""How much a model should reason, in the words of the providers; each knows some of them."""
POLICIES = ("sealed", "binary", "coarse", "paper", "hints", "missing", "rationale", "open")


FACTORS: Mapping[str, float] = {"half": 0.5, "standard": 1.0, "double": 2.0}


def budget_factor(value: object) -> object:
    """A factor on budgets, where a word stands for one."""
    return FACTORS.get(value, value) if isinstance(value, str) else value


class Spend(Record):
    """What may be spent. None means no limit of that kind."""

    usd: NonNegative | None = None
    """Money of all roles."""
    tokens: Count | None = None
    """Tokens of all roles."""
    hours: NonNegative | None = None
    """Of an episode: the executor's; of a cell: its episodes' together; of a run: wall time."""


class Budgets(Record):
    """Budgets of an experiment.

    An episode's limits stop its executor and replace the task's own. A cell or run that has
    used up its own starts no further episode; those under way are finished.
    """

    episode: Spend = Spend()
    cell: Spend = Spend()
    run: Spend = Spend()


class MoreAxes(Record):
    """Further axes of the matrix; an empty one has a single value: as the settings say."""

    persona: tuple[str, ...] = ()
    feedback_rounds: tuple[Annotated[int, Field(ge=0, le=10)], ...] = ()
    budget: tuple[Annotated[float, Field(gt=0, le=100), BeforeValidator(budget_factor)], ...] = ()
    """Factors on the executor's budgets: 0.5 or `half`, 1 or `standard`, 2 or `double`."""
    temperature: tuple[Annotated[float, Field(ge=0, le=2)], ...] = ()
    """Sampling temperature of the executor's model."""
    top_p: tuple[Annotated[float, Field(gt=0, le=1)], ...] = ()
    """Nucleus sampling of the executor's model."""
    effort: tuple[Effort, ...] = ()
    """How much the executor's model should reason."""
    skills: tuple[tuple[str, ...], ...] = ()
    """Directories of skills that the executor gets beside the task's own."""


class RunSettings(Record):
    """Everything that shapes the results of a run."""

    suite: str
    """`[FORMAT:]PATH`."""
    tasks: tuple[str, ...] = ()
    """Globs on the task id; empty means all."""
    executor: tuple[str, ...] = ("oracle",)
    """`HARNESS[:MODEL]`; more than one makes a matrix axis."""
    supervisor: tuple[str, ...] = ("checks",)
    """`checks` (code alone) or judge models; `+` joins the members of a panel."""
    votes: Annotated[int, Field(ge=1, le=9)] = 1
    """Answers asked of each judge."""
    auditor: str | None = None
    """Model of screening's second tier; None screens by code alone."""
    user_simulator: tuple[str, ...] = ("template",)
    """`template` or a model."""
    firewall: tuple[str, ...] = ("coarse",)
    """Policies."""
    persona: str | None = None
    """Overrides the brief's; None takes the brief's, then `default`."""
    feedback_rounds: Annotated[int, Field(ge=0, le=10)] | None = None
    """None takes each task's own."""
    questions_free: bool = False
    """A turn that ends in a question uses no feedback round (at most 5 such turns)."""
    trials: Annotated[int, Field(ge=1, le=1000)] = 1
    seed: Count = 0
    parallel: Annotated[int, Field(ge=1, le=256)] = 2
    """Episodes at a time."""
    parallel_models: Mapping[str, Annotated[int, Field(ge=1, le=1024)]] = {}
    """Requests at a time by provider (`openai`, `anthropic`), at most; the runner takes fewer
    while a provider refuses for its rate. Empty: no limit but that."""
    axes: MoreAxes = MoreAxes()
    budgets: Budgets = Budgets()
    allow_unknown_prices: bool = False
    """Let a budget in USD stand although a model has no price; its calls then do not count."""
    languages: tuple[str, ...] = ()
    """Only tasks in these; empty means all."""
    capabilities: tuple[str, ...] = ()
    """Only tasks of these; empty means all."""
    max_attempts: Annotated[int, Field(ge=1, le=10)] = 2
    """Attempts at an episode that fail by nobody's fault before it stays without a score."""
    environment: Literal["docker", "process"] = "docker"
    solutions: Path | None = None
    """Directory of `<task_id>/round-N.sh` for the oracle on imported tasks."""
    snapshot: bool = False
    """Use the tasks' snapshot instructions."""
    snapshots: bool = False
    """Keep the state at every round boundary, so that `uniclaw fork` can go on from it."""
    nested: bool = False
    """Play round 0 of each task and trial once; all cells continue from it (an ablation)."""
    model_in_process: bool = False
    """Consent to run what a model decides in the process environment, on this machine."""
    memory_bytes: Count | None = 2_000_000_000
    cpus: NonNegative | None = 2.0
    pids: Count | None = 512
    max_cost_usd: NonNegative | None = None
    """Money of each episode's executor; None takes the task's own budget."""
    prices: Path | None = None
    """Further price table (JSON)."""
    privacy: Path | None = None
    """File of `NAME=value` lines: private variables for tasks that ask for them by name."""
    network: bool = False
    """Let tasks that ask for a network reach it, through the recording proxy."""
    swe_prompt: Literal["phases", "short"] = "phases"
    """Claw-SWE-Bench: shape of the prompt, the same for every harness."""
    history: Literal["clean", "keep"] = "clean"
    """Claw-SWE-Bench: `keep` leaves the history after the base commit in the repository."""
    patch_source: Literal["repository", "model"] = "repository"
    """Claw-SWE-Bench: `model` takes the diff that the last message shows."""
    private_hosts: tuple[str, ...] = ()
    """`HOST:PORT` of servers on this machine or its network that tasks which ask for a network
    may reach; public hosts need no entry."""


class ToolSettings(Record):
    """Settings that shape no result."""

    runs_dir: Path = Path("runs")
    run: str | None = None
    assets: Path | None = None
    engine: str = "local"
    """Where episodes are played: `local`, or `ray[:ADDRESS]`."""


ENVIRONMENT_NAMES: Mapping[str, str] = {
    "UNICLAW_EXECUTOR": "executor",
    "UNICLAW_SUPERVISOR": "supervisor",
    "UNICLAW_USER_SIMULATOR": "user_simulator",
    "UNICLAW_FIREWALL": "firewall",
    "UNICLAW_PERSONA": "persona",
    "UNICLAW_FEEDBACK_ROUNDS": "feedback_rounds",
    "UNICLAW_TRIALS": "trials",
    "UNICLAW_SEED": "seed",
    "UNICLAW_PARALLEL": "parallel",
    "UNICLAW_MAX_ATTEMPTS": "max_attempts",
    "UNICLAW_ENVIRONMENT": "environment",
    "UNICLAW_SOLUTIONS": "solutions",
    "UNICLAW_PRICES": "prices",
    "UNICLAW_PRIVACY": "privacy",
    "UNICLAW_ENGINE": "engine",
    "UNICLAW_RUNS_DIR": "runs_dir",
    "UNICLAW_ASSETS": "assets",
}
LISTS = frozenset(
    {
        "tasks",
        "executor",
        "supervisor",
        "user_simulator",
        "firewall",
        "languages",
        "capabilities",
    }
)
"""Settings that are written with commas on the command line."""


def _from_environment(environ: Mapping[str, str], known: frozenset[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for variable, field in ENVIRONMENT_NAMES.items():
        text = environ.get(variable)
        if text and field in known:
            values[field] = _value(field, text)
    return values


def _value(field: str, text: str) -> object:
    if field in LISTS:
        return split_list(text)
    return int(text) if text.lstrip("-").isdigit() else text


def split_list(text: str) -> tuple[str, ...]:
    """Comma-separated items without surrounding space; empty items are dropped."""
    return tuple(item.strip() for item in text.split(",") if item.strip())


def resolve(
    kind: type[T],
    *,
    cli: Mapping[str, object],
    environ: Mapping[str, str],
    file: Mapping[str, object] | None = None,
    file_name: str = "config file",
) -> T:
    """Merge the sources into settings; None on the command line means "not given".

    Raises:
        UserError: a value does not fit; names the source, the field and the value.
    """
    known = frozenset(kind.model_fields)
    from_file = {k: v for k, v in (file or {}).items() if k in known}
    from_env = _from_environment(environ, known)
    from_cli = {k: v for k, v in cli.items() if v is not None and k in known}
    merged: dict[str, object] = {**from_file, **from_env, **from_cli}
    try:
        return TypeAdapter(kind).validate_python(merged)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else kind.__name__
        source = (
            "command line" if name in from_cli else "environment" if name in from_env else file_name
        )
        raise UserError(
            str(first["msg"]), file=source, field=name, value=first.get("input")
        ) from error
