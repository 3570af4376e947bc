"""What one episode has spent at its door, its limits, and the waits the provider caused.

Usage comes from the upstream alone. Where an answer broke off before its usage came, an
estimate counts against the limits, so that hanging up early buys nothing; it is never
reported as usage. Must not know HTTP.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager

from uniclaw.errors import BudgetExceeded, UserError
from uniclaw.gateway.exchange import Ending
from uniclaw.models.metering import SpendLimits
from uniclaw.pricing import PriceTable
from uniclaw.records import Count, NonNegative, Record, RoleUsage, Usage


class Bill(Record):
    """What an episode's door has seen."""

    spent: RoleUsage
    """As the provider reported it; cost None when it is unknown for at least one call."""
    estimate: Usage = Usage()
    """Counted against the limits on top, for answers that broke off."""
    endings: Mapping[str, Count] = {}
    """Requests by `Ending`, refused ones too."""
    waited_s: NonNegative = 0
    """Seconds in which at least one request waited because the provider asked for it."""
    stopped: str | None = None
    """Why the door refuses further calls: a used-up budget, a breach."""
    budget: str | None = None
    """Which budget that was."""
    provider_error: str | None = None
    """Class and message of the provider's failure when the last call ended in one."""


class Meter:
    """Counts one episode."""

    def __init__(
        self,
        spec: str,
        limits: SpendLimits,
        prices: PriceTable,
        monotonic: Callable[[], float],
    ) -> None:
        self._price = prices.price(spec)
        if limits.cost_usd is not None and self._price is None:
            raise UserError(
                f"a limit in USD needs a price for {spec!r}; add it to a file for --prices",
                field="cost_usd",
                value=limits.cost_usd,
            )
        self._limits = limits
        self._monotonic = monotonic
        self._calls = 0
        self._usage = Usage()
        self._estimate = Usage()
        self._cost_usd = 0.0
        self._estimated_usd = 0.0
        self._cost_known = True
        self._waiting = 0
        self._wait_began = 0.0
        self._waited_s = 0.0
        self.endings: Counter[Ending] = Counter()

    def admit(self) -> None:
        """Count a call that is about to be made.

        Raises:
            BudgetExceeded: a limit is already used up; nothing is counted.
        """
        tokens = self._usage.total + self._estimate.total
        used = (
            ("model_calls", self._limits.model_calls, float(self._calls)),
            ("tokens", self._limits.tokens, float(tokens)),
            ("cost_usd", self._limits.cost_usd, self._cost_usd + self._estimated_usd),
        )
        for kind, limit, value in used:
            if limit is not None and value >= limit:
                raise BudgetExceeded(kind, limit, value)
        self._calls += 1

    def count(self, usage: Usage | None, estimate: Usage | None) -> float | None:
        """Count an attempt.

        Args:
            usage: as reported; None when the provider did not say.
            estimate: what it left out; None when the report is whole.

        Returns:
            USD, or None when usage or price is unknown.
        """
        reported = usage or Usage()
        cost = None if usage is None else self.price(usage)
        self._usage += reported
        self._cost_usd += cost or 0.0
        if estimate is not None:
            self._estimate += estimate
            self._estimated_usd += self.price(estimate) or 0.0
            cost = None
        self._cost_known = self._cost_known and cost is not None
        return cost

    def price(self, usage: Usage) -> float | None:
        """USD of a usage; nothing used costs nothing, whatever the price."""
        if usage.total == 0:
            return 0.0
        return None if self._price is None else self._price.cost(usage)

    def spent(self) -> RoleUsage:
        """Everything so far."""
        cost = self._cost_usd if self._cost_known else None
        return RoleUsage(calls=self._calls, usage=self._usage, cost_usd=cost)

    @property
    def estimate(self) -> Usage:
        """What was counted on top."""
        return self._estimate

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Around a wait that the provider caused; overlapping ones count once."""
        if self._waiting == 0:
            self._wait_began = self._monotonic()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self._waited_s += max(0.0, self._monotonic() - self._wait_began)

    def waited_s(self) -> float:
        """Seconds of waits so far, a running one included."""
        running = self._monotonic() - self._wait_began if self._waiting else 0.0
        return self._waited_s + max(0.0, running)
