"""One tree of errors; each class says whether to retry, whether to judge, whether it counts.

    UniclawError
    ├── UserError            the user's mistake: file, field, value, what was expected (exit 2)
    ├── InfraError           machine or provider; nobody's score
    │   ├── EngineError          the Docker engine does not answer or refuses
    │   ├── EnvironmentLost      a container died or vanished without the agent's doing
    │   ├── StoreError           the run store cannot be read or written
    │   ├── TaskRefused          the task cannot be played as it should be; never retried
    │   ├── HarnessError         the harness program could not be started or read
    │   └── ProviderError        a model provider failed
    │       ├── ProviderRateLimited    429 or overload, after all retries
    │       ├── ProviderRefused        4xx: key, model name, malformed request
    │       └── ProviderBadAnswer      the provider answered outside its own protocol
    ├── EnvironmentKilledByAgent  the agent ended its own environment (scored on what was left)
    ├── BudgetExceeded       a budget of the episode is used up (scored on what was left)
    ├── JudgeError           no usable verdict from the judge; score None
    ├── SimulatorError       no usable message from the user simulator
    ├── FirewallBreach       hidden text crossed to the agent's side
    └── EpisodeCancelled     the user stopped the run

This module must not know anything of roles, suites or containers.
"""

from typing import ClassVar


class UniclawError(Exception):
    """Root of the tree.

    Class attributes say what the runner does with an episode that ends in it:
    `retry` another attempt may be made, `judge` what was left is still judged,
    `counts` the episode enters the denominators of scores.
    """

    retry: ClassVar[bool] = False
    judge: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    outcome: ClassVar[str] = "infra_error"


class UserError(UniclawError):
    """The user's mistake; the message names file, field, value and what was expected."""

    def __init__(
        self, problem: str, *, file: object = None, field: str | None = None, value: object = None
    ) -> None:
        self.problem = problem
        self.file = None if file is None else str(file)
        self.field = field
        self.value = value
        where = [part for part in (self.file, f"`{field}`" if field else None) if part]
        shown = "" if value is None else f" (got {value!r})"
        super().__init__(f"{': '.join([*where, problem])}{shown}")


class InfraError(UniclawError):
    """Machine or provider trouble; nobody's score."""

    retry = True


class EngineError(InfraError):
    """The Docker engine does not answer, or refused an operation."""


class EnvironmentLost(InfraError):
    """The environment died or vanished, and not by the agent's own doing."""

    outcome = "environment_lost"


class StoreError(InfraError):
    """The run store cannot be read or written; the message names the file."""

    retry = False


class TaskRefused(InfraError):
    """The task itself cannot be played as it should be, and no attempt would end otherwise.

    A row that cannot be read, say, or a repository whose future cannot be removed.
    """

    retry = False


class HarnessError(InfraError):
    """The harness program could not be installed, started or read."""


class ProviderError(InfraError):
    """A model provider failed after all retries."""


class ProviderRateLimited(ProviderError):
    """The provider kept saying 429 or overload, or asked to wait longer than the budget."""

    outcome = "rate_limited"


class ProviderRefused(ProviderError):
    """The provider refused the request itself: key, model name, malformed request."""

    retry = False


class ProviderBadAnswer(ProviderError):
    """The provider answered outside its own protocol (not JSON, cut stream, no choice)."""


class EnvironmentKilledByAgent(UniclawError):
    """The agent ended its own environment: it ran out of memory whole, or killed its init.

    Scored on what was left and never retried, so that breaking things buys no second try.
    """

    judge = True
    counts = True
    outcome = "executor_incomplete"


class BudgetExceeded(UniclawError):
    """A budget of the episode is used up; what was left is judged and counts."""

    judge = True
    counts = True
    outcome = "budget"

    def __init__(self, kind: str, limit: float, used: float) -> None:
        self.kind = kind
        self.limit = limit
        self.used = used
        super().__init__(f"budget {kind!r} used up: {used:g} of {limit:g}")


class JudgeError(UniclawError):
    """The judge gave no usable verdict; the score is None, with this reason."""

    retry = True
    outcome = "judge_error"


class SimulatorError(UniclawError):
    """The user simulator gave no usable message."""

    retry = True
    outcome = "simulator_error"


class FirewallBreach(UniclawError):
    """Hidden text crossed to the agent's side; the message names the path it took."""

    outcome = "firewall_breach"


class EpisodeCancelled(UniclawError):
    """The user stopped the run."""

    outcome = "cancelled"
