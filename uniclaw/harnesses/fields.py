"""Reading JSON of unknown shape: what is not there, or not of the kind, is empty."""

from pydantic import JsonValue

from uniclaw.records import Usage


def text_at(value: JsonValue, *path: str) -> str:
    """The string at a path of keys, or an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def int_at(value: JsonValue, *path: str) -> int:
    """The whole number at a path of keys, at least 0; 0 where there is none."""
    found = value_at(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or found != found:
        return 0
    return max(0, min(int(found), 1 << 62))


def code_at(value: JsonValue, *path: str) -> int | None:
    """The exit code at a path of keys."""
    found = value_at(value, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def dict_at(value: JsonValue, *path: str) -> dict[str, JsonValue]:
    """The object at a path of keys, or an empty one."""
    found = value_at(value, *path)
    return found if isinstance(found, dict) else {}


def dicts_at(value: JsonValue, *path: str) -> list[dict[str, JsonValue]]:
    """The objects of the list at a path of keys."""
    found = value_at(value, *path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def value_at(value: JsonValue, *path: str) -> JsonValue:
    """Whatever is at a path of keys."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def minus(usage: Usage, earlier: Usage) -> Usage:
    """What came since; a program that began to count anew is taken at its word."""
    parts = {name: getattr(usage, name) - getattr(earlier, name) for name in Usage.model_fields}
    return Usage(**parts) if all(part >= 0 for part in parts.values()) else usage
