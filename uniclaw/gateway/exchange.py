"""What the gateway records of each request, whatever became of it.

Must not know how a request is served.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Literal

from uniclaw.records import SCHEMA_VERSION, Count, NonNegative, Record, Usage

Api = Literal["chat", "responses", "messages"]
"""OpenAI chat completions, OpenAI responses, Anthropic messages."""

PATHS: Mapping[Api, str] = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/messages",
}
"""Path of each API below `/v1`."""


class Ending(StrEnum):
    """How one request ended."""

    ANSWERED = "answered"
    CLIENT_GONE = "client_gone"
    """The harness hung up; the upstream was cancelled and what it reported is kept."""
    CLOSED = "closed"
    """The episode was closed while the request ran, or before it came."""

    BUDGET = "budget"
    FLOODED = "flooded"
    """More at a time than an episode may have: the agent's doing."""
    MALFORMED = "malformed"
    """Not a request of this API, too large, or one that asks for what no agent may have."""
    BREACH = "breach"
    """The firewall found hidden text in it."""

    RATE_LIMITED = "rate_limited"
    PROVIDER_REFUSED = "provider_refused"
    PROVIDER_ERROR = "provider_error"
    BAD_ANSWER = "bad_answer"
    """Half a stream, garbage, or an answer outside the protocol."""
    NOT_RECORDED = "not_recorded"
    """A recorded source has no exchange for this request."""

    @property
    def of_provider(self) -> bool:
        """Whether the provider, and not the agent, is the cause."""
        return self in _OF_PROVIDER


_OF_PROVIDER = frozenset(
    {Ending.RATE_LIMITED, Ending.PROVIDER_REFUSED, Ending.PROVIDER_ERROR, Ending.BAD_ANSWER}
)


class Payload(Record):
    """Bytes as stored: text where they are UTF-8, base64 otherwise."""

    text: str | None = None
    base64: str | None = None
    total_bytes: Count = 0
    """Size before a cut."""
    truncated: bool = False

    @classmethod
    def of(cls, data: bytes, *, total_bytes: int | None = None) -> "Payload":
        """Store bytes; `total_bytes` says how many there were when `data` is only their start."""
        total = len(data) if total_bytes is None else total_bytes
        truncated = total > len(data)
        try:
            return cls(text=data.decode("utf-8"), total_bytes=total, truncated=truncated)
        except UnicodeDecodeError:
            encoded = base64.b64encode(data).decode("ascii")
            return cls(base64=encoded, total_bytes=total, truncated=truncated)

    @property
    def data(self) -> bytes:
        """The bytes."""
        if self.text is not None:
            return self.text.encode("utf-8")
        try:
            return base64.b64decode(self.base64 or "", validate=True)
        except binascii.Error as error:
            raise ValueError("a stored payload is not base64") from error


class Try(Record):
    """One attempt at the upstream."""

    status: Count | None = None
    """HTTP status; None when no answer came."""
    error: str | None = None
    error_kind: str | None = None
    """Class name of the typed error."""
    waited_s: NonNegative = 0
    """Wait before this attempt."""
    duration_s: NonNegative = 0
    usage: Usage | None = None
    """None: the provider did not say."""


class WireExchange(Record):
    """One request of a harness, from its bytes to the bytes of the upstream's answer.

    Holds no key and no token: headers are not recorded.
    """

    schema_version: int = SCHEMA_VERSION
    episode: str
    model: str
    """`PROVIDER/NAME` of the upstream."""
    purpose: str = "executor"
    api: Api
    """As the harness spoke."""
    upstream_api: Api
    """As the upstream spoke; differs from `api` where the gateway translated."""
    asked_model: str = ""
    """The name in the harness's request; the upstream always gets the configured one."""
    stream: bool = False
    request: Payload
    sent: Payload | None = None
    """Body sent upstream where it is not the harness's own bytes."""
    reply: Payload | None = None
    """The upstream's answer of the last attempt, as it came."""
    status: Count | None = None
    """HTTP status the harness got; None when it was gone before."""
    ending: Ending
    error: str | None = None
    error_kind: str | None = None
    partial: bool = False
    """The harness got the start of an answer that then failed."""
    tries: tuple[Try, ...] = ()
    dropped: tuple[str, ...] = ()
    """What of the request the upstream did not get, and why."""
    started: str
    """UTC, ISO 8601."""
    duration_s: NonNegative
    """From the first byte of the request to the end, waits included."""
    first_content_s: NonNegative | None = None
    """Until the first piece of content was passed on."""
    waited_s: NonNegative = 0
    """Waits that the provider caused."""
    usage: Usage | None = None
    """Of all attempts, as reported; None when the provider never said."""
    estimate: Usage | None = None
    """What the budgets count on top, for attempts whose usage was never reported in full."""
    cost_usd: NonNegative | None = None
    """None when usage or price is unknown."""
    request_hash: str = ""
    """Of the request's meaning; recorded sources are looked up by it."""


ExchangeObserver = Callable[[WireExchange], None]
Watch = Callable[[str, str], None]
"""`watch(where, text)` raises `FirewallBreach` when the text holds what must not be there."""
