"""Statements about JSON documents: files of the agent's, probes and audit logs."""

import re
import unicodedata
from collections.abc import Sequence

from pydantic import JsonValue

from uniclaw.hidden.references import References, resolve_pointer
from uniclaw.hidden.rubric import Assertion, JsonCheck, StateCheck
from uniclaw.hidden.verdict import CheckResult
from uniclaw.records import Entry, ProbeResult
from uniclaw.supervisor.checks.context import (
    CheckContext,
    Statement,
    Undecidable,
    conclude,
    hold,
    unmet,
)
from uniclaw.supervisor.checks.regexes import Search, search_all
from uniclaw.supervisor.checks.texts import contains_all
from uniclaw.supervisor.checks.values import (
    Tolerance,
    close,
    equal,
    member,
    number,
    parse_json,
    show,
    type_name,
)
from uniclaw.supervisor.frozen import Unreadable, decode

MAX_JSON_BYTES = 20_000_000
_MAX_SET = 100_000
_APPROX = Tolerance(absolute=1e-9, relative=1e-6)
"""What `approx` allows when the assertion names no tolerance."""


def check_json(check: JsonCheck, context: CheckContext) -> CheckResult:
    """Carry out a `json` check; where a glob matches several files the best one counts."""
    try:
        entries = context.files.readable(check.path)
    except Unreadable as error:
        return unmet(str(error))
    results = [_check_file(check, entry, context) for entry in entries]
    return max(results, key=lambda result: result.value or 0.0)


def _check_file(check: JsonCheck, entry: Entry, context: CheckContext) -> CheckResult:
    try:
        text = decode(context.files.read(entry, max_bytes=MAX_JSON_BYTES))
        parsed = parse_json(text)
    except Unreadable as error:
        return unmet(str(error), evidence=[entry.path])
    except ValueError as error:
        return unmet(f"{entry.path} does not parse as JSON: {error}", evidence=[entry.path])
    statements = [assertion_holds(a, parsed.value, context.references) for a in check.asserts]
    result = conclude(statements, partial=check.partial, evidence=[entry.path])
    if not parsed.repeated:
        return result
    note = f" (keys that stand twice, last one counted: {', '.join(parsed.repeated[:5])})"
    return result.model_copy(update={"reason": result.reason + note})


def check_state(check: StateCheck, context: CheckContext) -> CheckResult:
    """Carry out a `state` check over a probe, or a service's audit log.

    The audit log of a service is the probe result `service:<name>`.

    Raises:
        Undecidable: the probe has no result in this round's evidence.
    """
    name = check.probe if check.probe is not None else f"service:{check.service}"
    probe = next((p for p in context.evidence.probes if p.id == name), None)
    if probe is None:
        raise Undecidable(f"there is no result of {name} in this round's evidence")
    statements = _probe_statements(check, probe, context.references)
    return conclude(statements, partial=check.partial, evidence=[f"probe:{name}"])


def _probe_statements(
    check: StateCheck, probe: ProbeResult, references: References
) -> list[Statement]:
    statements: list[Statement] = []
    if check.exit_code is not None:
        held = probe.exit_code == check.exit_code
        statements.append(hold(held, f"exit code {probe.exit_code}"))
    if check.contains:
        wanted = [references.value(v) for v in check.contains]
        statements += contains_all(wanted, probe.stdout, ignore_case=False)
    if check.asserts:
        try:
            document = parse_json(probe.stdout).value
        except ValueError as error:
            words = f"the output does not parse as JSON: {error}"
            return [*statements, *(hold(False, words) for _ in check.asserts)]
        statements += [assertion_holds(a, document, references) for a in check.asserts]
    return statements


def assertion_holds(assertion: Assertion, document: JsonValue, references: References) -> Statement:
    """Whether one assertion holds, at every place that its pointer ranges over."""
    members = resolve_pointer(document, assertion.pointer)
    where = assertion.pointer or "the document"
    if assertion.op == "absent":
        found = [m.pointer for m in members if m.found]
        return hold(not found, f"{found[0] if found else where} is {'' if found else 'not '}there")
    if not members:
        return hold(False, f"{where} ranges over nothing")
    expected = references.value(assertion.value)
    for found in members:
        if not found.found:
            return hold(False, f"{found.pointer} is missing")
        if not _holds(assertion, found.value, expected):
            return hold(False, f"{found.pointer or where} is {show(found.value)}")
    return hold(True, f"{where} {assertion.op} as expected")


def _holds(assertion: Assertion, actual: JsonValue, expected: JsonValue) -> bool:
    tolerance = Tolerance(assertion.abs_tol, assertion.rel_tol, assertion.ignore_case)
    match assertion.op:
        case "exists" | "absent":
            return True
        case "equals":
            return equal(actual, expected, tolerance)
        case "not_equals":
            return not equal(actual, expected, tolerance)
        case "approx" | "at_least" | "at_most":
            return _compare(assertion.op, actual, expected, tolerance)
        case "length" | "type":
            return _shape(assertion.op, actual, expected)
        case "matches":
            flags = re.IGNORECASE if assertion.ignore_case else 0
            return (
                isinstance(actual, str)
                and isinstance(expected, str)
                and search_all([Search(expected, actual, flags)])[0] is True
            )
        case _:
            return _members(assertion.op, actual, expected, tolerance)


def _compare(op: str, actual: JsonValue, expected: JsonValue, tolerance: Tolerance) -> bool:
    left, right = number(actual), number(expected)
    if left is None or right is None:
        return False
    if op == "approx":
        given = tolerance.absolute > 0 or tolerance.relative > 0
        return close(left, right, tolerance if given else _APPROX)
    return close(left, right, tolerance) or (left > right if op == "at_least" else left < right)


def _shape(op: str, actual: JsonValue, expected: JsonValue) -> bool:
    if op == "length":
        return isinstance(actual, str | list | dict) and len(actual) == expected
    name = type_name(actual)
    return name == expected or (name == "integer" and expected == "number")


def _members(op: str, actual: JsonValue, expected: JsonValue, tolerance: Tolerance) -> bool:
    """`contains` looks in text, lists and keys; the others take both sides as sets."""
    if op == "contains":
        return _contains(actual, expected, tolerance)
    wanted = expected if isinstance(expected, list) else [expected]
    if op == "contains_all":
        return all(_contains(actual, item, tolerance) for item in wanted)
    if not isinstance(actual, list) or len(actual) > _MAX_SET:
        return False
    inside = all(member(item, wanted, tolerance) for item in actual)
    return inside and (op == "subset_of" or _all_in(wanted, actual, tolerance))


def _all_in(wanted: Sequence[JsonValue], items: list[JsonValue], tolerance: Tolerance) -> bool:
    return all(member(item, items, tolerance) for item in wanted)


def _contains(actual: JsonValue, item: JsonValue, tolerance: Tolerance) -> bool:
    if isinstance(actual, list):
        return member(item, actual, tolerance)
    if not isinstance(item, str):
        return False
    if isinstance(actual, dict):
        return member(item, list(actual), tolerance)
    if not isinstance(actual, str):
        return False
    texts = [unicodedata.normalize("NFC", t) for t in (actual, item)]
    text, wanted = [t.casefold() for t in texts] if tolerance.ignore_case else texts
    return wanted in text
