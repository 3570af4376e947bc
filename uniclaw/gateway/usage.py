"""Usage of the three APIs in the normal form, read from untyped JSON.

What is missing or no count is 0; a part that exceeds its whole is cut to it. Must not
know streams.
"""

from pydantic import JsonValue

from uniclaw.gateway.exchange import Api
from uniclaw.records import Usage

_MOST = 10**12


def count(value: JsonValue) -> int:
    """A token count: 0 for anything that is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(min(max(value, 0), _MOST))


def _part(value: JsonValue, key: str, name: str) -> int:
    details = value.get(key) if isinstance(value, dict) else None
    return count(details.get(name)) if isinstance(details, dict) else 0


def _openai(value: dict[str, JsonValue], heard: str, said: str) -> Usage:
    whole = count(value.get(f"{heard}_tokens"))
    cached = min(_part(value, f"{heard}_tokens_details", "cached_tokens"), whole)
    written = _part(value, f"{heard}_tokens_details", "cache_write_tokens")
    written = min(written, whole - cached)
    answer = count(value.get(f"{said}_tokens"))
    reasoning = min(_part(value, f"{said}_tokens_details", "reasoning_tokens"), answer)
    return Usage(
        input=whole - cached - written,
        cache_read=cached,
        cache_write=written,
        output=answer - reasoning,
        reasoning=reasoning,
    )


def _messages(value: dict[str, JsonValue], before: Usage | None) -> Usage:
    """What the end of a stream leaves out stays as its start said."""
    start = before or Usage()
    answer = count(value.get("output_tokens"))
    reasoning = min(_part(value, "output_tokens_details", "thinking_tokens"), answer)

    def kept(key: str, other: int) -> int:
        given = value.get(key)
        return other if given is None else count(given)

    return Usage(
        input=kept("input_tokens", start.input),
        cache_read=kept("cache_read_input_tokens", start.cache_read),
        cache_write=kept("cache_creation_input_tokens", start.cache_write),
        output=answer - reasoning,
        reasoning=reasoning,
    )


def read_usage(api: Api, value: JsonValue, before: Usage | None = None) -> Usage | None:
    """The normal form of a `usage` object; None when it is no object.

    Args:
        api: whose object it is.
        value: the object.
        before: messages only: what the start of the stream reported.
    """
    if not isinstance(value, dict):
        return None
    if api == "messages":
        return _messages(value, before)
    if api == "chat":
        return _openai(value, "prompt", "completion")
    return _openai(value, "input", "output")


def write_usage(api: Api, usage: Usage) -> dict[str, JsonValue]:
    """The `usage` object of an API."""
    heard = usage.input + usage.cache_read + usage.cache_write
    said = usage.output + usage.reasoning
    if api == "messages":
        return {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": said,
            "output_tokens_details": {"thinking_tokens": usage.reasoning},
        }
    inputs: dict[str, JsonValue] = {
        "cached_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
    }
    outputs: dict[str, JsonValue] = {"reasoning_tokens": usage.reasoning}
    first, second = ("prompt", "completion") if api == "chat" else ("input", "output")
    return {
        f"{first}_tokens": heard,
        f"{first}_tokens_details": inputs,
        f"{second}_tokens": said,
        f"{second}_tokens_details": outputs,
        "total_tokens": heard + said,
    }
