"""What a provider's complaint means: the typed error, and whether another try may help.

Both SDKs have the same error classes by name; this module knows status codes and the words
that providers put into error bodies, and neither SDK.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import cast

from uniclaw.errors import (
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
)
from uniclaw.models.retry import AttemptFailed, parse_retry_after

_OVERLOAD_WORDS = ("overloaded", "rate_limit", "too_many_requests", "capacity", "throttl")
_QUOTA_WORDS = ("insufficient_quota", "billing_hard_limit", "credit balance is too low")
_SERVER_WORDS = ("server_error", "api_error", "internal", "timeout", "unavailable", "bad_gateway")
_MAX_MESSAGE = 500


def error_details(body: object) -> tuple[str, str]:
    """`(words, message)` of an error body: type and code in lower case, and the message."""
    record = _mapping(body)
    record = _mapping(record.get("error")) or record
    words = " ".join(str(record.get(key) or "") for key in ("type", "code", "status"))
    message = record.get("message")
    text = message if isinstance(message, str) else ("" if body is None else str(body))
    return words.lower(), text[:_MAX_MESSAGE]


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def from_status(
    status: int, body: object, headers: Mapping[str, str], now: datetime
) -> AttemptFailed:
    """The failure for an HTTP error status."""
    words, message = error_details(body)
    said = f"HTTP {status} {words}: {message}"
    after = _retry_after(headers, now)
    if any(word in f"{words} {message.lower()}" for word in _QUOTA_WORDS):
        return AttemptFailed(ProviderRefused(said), transient=False)
    if status in (429, 529) or "overloaded" in words:
        return AttemptFailed(ProviderRateLimited(said), transient=True, retry_after_s=after)
    if status >= 500 or status in (408, 409):
        return AttemptFailed(ProviderError(said), transient=True, retry_after_s=after)
    return AttemptFailed(ProviderRefused(said), transient=False)


def _retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    exact_ms = parse_retry_after(headers.get("retry-after-ms"), now)
    plain = parse_retry_after(headers.get("retry-after"), now)
    return plain if exact_ms is None else max(exact_ms / 1000, 0.0)


def from_body(body: object) -> AttemptFailed:
    """The failure for an error that came inside a 200 answer or stream."""
    words, message = error_details(body)
    said = f"error inside a 200 answer, {words}: {message}"
    if any(word in f"{words} {message.lower()}" for word in _QUOTA_WORDS):
        return AttemptFailed(ProviderRefused(said), transient=False)
    digits = next((int(w) for w in words.split() if w.isdigit() and len(w) == 3), None)
    if digits in (429, 529) or any(word in words for word in _OVERLOAD_WORDS):
        return AttemptFailed(ProviderRateLimited(said), transient=True)
    if (digits or 0) >= 500 or any(word in words for word in _SERVER_WORDS):
        return AttemptFailed(ProviderError(said), transient=True)
    if digits is not None or "invalid_request" in words or "authentication" in words:
        return AttemptFailed(ProviderRefused(said), transient=False)
    return AttemptFailed(ProviderError(said), transient=True)


def bad_answer(problem: str) -> AttemptFailed:
    """The failure for an answer outside the protocol; worth another try."""
    return AttemptFailed(ProviderBadAnswer(problem), transient=True)


def no_connection(error: Exception) -> AttemptFailed:
    """The failure for a connection that could not be made, broke, or timed out."""
    cause = error.__cause__ or error
    return AttemptFailed(
        ProviderError(f"{type(error).__name__}: {cause or error}"[:_MAX_MESSAGE]), transient=True
    )


@contextmanager
def reading_answer() -> Generator[None]:
    """Around code that reads an answer: the SDKs let any JSON pass as one of their objects."""
    try:
        yield
    except (AttributeError, TypeError, ValueError) as error:
        raise bad_answer(f"an answer outside the protocol: {error}"[:_MAX_MESSAGE]) from error
