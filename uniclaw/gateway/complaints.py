"""What the gateway says when it says no, in the words of each API.

The codes are chosen by what real harnesses do with them: a used-up budget is
`insufficient_quota` (429) for the OpenAI APIs, where Codex stops after one try, and
`billing_error` (402) for messages, where Claude Code stops too.
"""

from typing import NamedTuple

from uniclaw.gateway.exchange import Api, Ending
from uniclaw.gateway.sse import write_event
from uniclaw.gateway.translate.fields import Json, encode

RETRY_SOON_S = 1


class Complaint(Exception):
    """A request that gets an error instead of an answer."""

    def __init__(
        self,
        ending: Ending,
        message: str,
        *,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        self.ending = ending
        self.message = message
        self.status = status
        self.kind = kind
        self.code = code
        self.retry_after_s = retry_after_s
        super().__init__(message)


def malformed(message: str) -> Complaint:
    """Not a request of its API, or one that asks for what no agent may have."""
    return Complaint(Ending.MALFORMED, message)


def too_large(max_bytes: int) -> Complaint:
    """The body is over the cap."""
    return Complaint(
        Ending.MALFORMED,
        f"the request is larger than the {max_bytes} bytes allowed",
        status=413,
        kind="request_too_large",
        code="request_too_large",
    )


def unauthorized() -> Complaint:
    """No token, or not the token of this door."""
    return Complaint(
        Ending.MALFORMED,
        "this key does not open this door",
        status=401,
        kind="authentication_error",
        code="invalid_api_key",
    )


def not_found(path: str) -> Complaint:
    """A path that is not served."""
    return Complaint(
        Ending.MALFORMED,
        f"{path[:200]!r} is not served here",
        status=404,
        kind="not_found_error",
        code="not_found",
    )


def over_budget(api: Api, what: str) -> Complaint:
    """A budget of the episode is used up."""
    message = f"You exceeded your current quota: {what}"
    if api == "messages":
        return Complaint(Ending.BUDGET, message, status=402, kind="billing_error")
    quota = "insufficient_quota"
    return Complaint(Ending.BUDGET, message, status=429, kind=quota, code=quota)


def flooded(message: str) -> Complaint:
    """More at a time than an episode may have."""
    return Complaint(
        Ending.FLOODED,
        message,
        status=429,
        kind="rate_limit_error",
        code="rate_limit_exceeded",
        retry_after_s=RETRY_SOON_S,
    )


def shut(ending: Ending, message: str) -> Complaint:
    """The episode is over, or was ended by the firewall."""
    return Complaint(ending, message, status=403, kind="permission_error", code="closed")


class Fault(NamedTuple):
    """Kind and code of an upstream failure by status."""

    kind: str
    code: str


_FAULTS: dict[int, Fault] = {
    400: Fault("invalid_request_error", "invalid_request"),
    401: Fault("authentication_error", "provider_key_refused"),
    403: Fault("permission_error", "provider_refused"),
    404: Fault("not_found_error", "model_not_found"),
    413: Fault("request_too_large", "request_too_large"),
    429: Fault("rate_limit_error", "rate_limit_exceeded"),
    529: Fault("overloaded_error", "server_is_overloaded"),
}


def upstream_failed(
    ending: Ending, status: int, message: str, *, retry_after_s: float | None = None
) -> Complaint:
    """The provider failed; its status is kept where the harness may act on it."""
    fault = _FAULTS.get(status, Fault("api_error", "server_error"))
    return Complaint(
        ending,
        message,
        status=status,
        kind=fault.kind,
        code=fault.code,
        retry_after_s=retry_after_s,
    )


def error_body(api: Api, complaint: Complaint) -> bytes:
    """The body of an HTTP error."""
    return encode(_body(api, complaint))


def _body(api: Api, complaint: Complaint) -> Json:
    if api == "messages":
        return {"type": "error", "error": {"type": complaint.kind, "message": complaint.message}}
    error: Json = {
        "message": complaint.message,
        "type": complaint.kind,
        "code": complaint.code,
        "param": None,
    }
    return {"error": error}


def error_event(api: Api, complaint: Complaint) -> bytes:
    """An error inside a stream that has begun."""
    if api == "chat":
        return write_event(error_body(api, complaint))
    if api == "messages":
        return write_event(error_body(api, complaint), "error")
    error: Json = {"code": complaint.code or complaint.kind, "message": complaint.message}
    response: Json = {
        "id": "resp_failed",
        "object": "response",
        "status": "failed",
        "error": error,
        "output": [],
    }
    data: Json = {"type": "response.failed", "sequence_number": 1_000_000, "response": response}
    return write_event(encode(data), "response.failed")
