"""One episode at the gateway: its upstream, limits, counts, and whether it still runs.

Must not know HTTP.
"""

import asyncio
import hashlib
import hmac
import secrets
from dataclasses import dataclass, field

from uniclaw.errors import BudgetExceeded, ProviderError, UniclawError
from uniclaw.gateway.admission import Admission, DoorLimits
from uniclaw.gateway.complaints import over_budget, shut
from uniclaw.gateway.exchange import Api, Ending, ExchangeObserver, Watch, WireExchange
from uniclaw.gateway.meter import Bill, Meter
from uniclaw.gateway.upstream import Source, UpstreamSpec
from uniclaw.models.retry import Timing


def token_digest(token: str) -> bytes:
    """What tokens are compared by."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


@dataclass
class EpisodeDoor:
    """The state of one episode."""

    id: str
    upstream: UpstreamSpec
    source: Source
    meter: Meter
    limits: DoorLimits
    timing: Timing
    on_exchange: ExchangeObserver | None
    watch: Watch | None
    admission: Admission
    by_hash: bool = False
    """Whether the source looks requests up by their hash."""
    token: str = field(default_factory=lambda: f"uc-{secrets.token_urlsafe(32)}")
    closed: bool = False
    stop: UniclawError | None = None
    """Why further calls are refused."""
    stopped: asyncio.Event = field(default_factory=asyncio.Event)
    calls: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    provider_error: ProviderError | None = None
    """Of the last call that reached the provider; None when that one was answered."""

    def __post_init__(self) -> None:
        self._digest = token_digest(self.token)
        self._secrets = tuple(s for s in self.source.secrets() if len(s) >= 8)

    def owns(self, token: str) -> bool:
        """Whether it is this episode's token."""
        return hmac.compare_digest(self._digest, token_digest(token))

    def check_open(self) -> None:
        """Raises `Complaint` when the episode was closed or ended."""
        if self.closed:
            raise shut(Ending.CLOSED, "this episode is over")
        if self.stop is not None and not isinstance(self.stop, BudgetExceeded):
            raise shut(Ending.BREACH, "this episode was ended")

    def admit(self, api: Api) -> None:
        """Count a call; raises `Complaint` when a budget is used up."""
        try:
            self.meter.admit()
        except BudgetExceeded as error:
            self.end(error)
            raise over_budget(api, str(error)) from error

    def end(self, reason: UniclawError) -> None:
        """Refuse further calls. A breach stands before a budget."""
        if self.stop is None or isinstance(self.stop, BudgetExceeded):
            self.stop = reason
        self.stopped.set()

    def scrub(self, data: bytes) -> bytes:
        """Without the provider's key."""
        for secret in self._secrets:
            if secret in data:
                data = data.replace(secret, b"[key]")
        return data

    def record(self, exchange: WireExchange) -> None:
        """Count an ended request and tell of it; a store that fails ends the episode."""
        self.meter.endings[exchange.ending] += 1
        if self.on_exchange is None:
            return
        try:
            self.on_exchange(exchange)
        except UniclawError as error:
            self.end(error)

    def bill(self) -> Bill:
        """Everything so far."""
        failed = self.provider_error
        return Bill(
            spent=self.meter.spent(),
            estimate=self.meter.estimate,
            endings={ending.value: n for ending, n in sorted(self.meter.endings.items())},
            waited_s=self.meter.waited_s(),
            stopped=None if self.stop is None else f"{type(self.stop).__name__}: {self.stop}",
            budget=self.stop.kind if isinstance(self.stop, BudgetExceeded) else None,
            provider_error=None if failed is None else f"{type(failed).__name__}: {failed}",
        )
