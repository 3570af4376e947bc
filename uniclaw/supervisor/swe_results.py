"""Reads what test runners wrote: JUnit XML and TAP files, as a mapping of test ids to results.

The files come from a process that ran the agent's code, so they are read as data of nobody's:
bounded, without entities, and a test that is not in them did not pass.
"""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping
from typing import Literal

Status = Literal["passed", "failed"]
_FAILING = ("failure", "error", "skipped")
_POINT = re.compile(
    r"^(?P<indent> *)(?P<not>not )?ok(?: \d+)?(?: -)? ?(?P<name>.*?)"
    r"(?:(?<!\\) # (?P<directive>SKIP|TODO)\b.*)?$",
    re.IGNORECASE,
)
_SUBTEST = re.compile(r"^(?P<indent> *)# Subtest: (?P<name>.*)$")


def parse_junit(data: bytes) -> Mapping[str, Status]:
    """Results of a JUnit file by test id.

    A case with a `file` is known as pytest names it (`tests/test_a.py::TestB::test_c`); every
    case also as `CLASSNAME.NAME`, and by its name alone where no other case has it. A test that
    appears twice passed only if it did so both times.

    Raises:
        ValueError: not XML, or with a document type.
    """
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ValueError("the report has a document type")
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError as error:
        raise ValueError(f"the report is not XML: {error}") from error
    found: dict[str, Status] = {}
    bare: dict[str, int] = {}
    for case in root.iter("testcase"):
        name, group = case.get("name") or "", case.get("classname") or ""
        status: Status = "failed" if any(child.tag in _FAILING for child in case) else "passed"
        bare[name] = bare.get(name, 0) + 1
        for key in dict.fromkeys((_pytest_id(case.get("file"), group, name), f"{group}.{name}")):
            if key:
                found[key] = "failed" if found.get(key) == "failed" else status
        if bare[name] == 1 and name not in found:
            found[name] = status
        elif bare[name] > 1 and not group:
            found[name] = "failed" if found.get(name) == "failed" else status
    for name, number in bare.items():
        if number > 1 and found.get(name) == "passed":
            found.pop(name)
    return found


def _pytest_id(file: str | None, group: str, name: str) -> str:
    if not file:
        return ""
    module = re.sub(r"\.py$", "", file).replace("/", ".")
    inner = group[len(module) + 1 :] if group.startswith(f"{module}.") else ""
    return "::".join([file, *(part for part in inner.split(".") if part), name])


def parse_tap(text: str, *, workspace: str) -> Mapping[str, Status]:
    """Results of a TAP file of nested subtests: names joined by ` > `, paths made relative.

    A skipped or unfinished (`# TODO`) point did not pass.
    """
    found: dict[str, Status] = {}
    stack: list[tuple[int, str]] = []
    for line in _points(text):
        opened = _SUBTEST.match(line)
        if opened:
            indent = len(opened["indent"])
            stack = [*(s for s in stack if s[0] < indent), (indent, opened["name"])]
            continue
        point = _POINT.match(line)
        if point is None or not point["name"]:
            continue
        indent = len(point["indent"])
        above = [name for depth, name in stack if depth < indent]
        names = [_plain(name, workspace) for name in (*above, point["name"])]
        good = point["not"] is None and point["directive"] is None
        key = " > ".join(names)
        found[key] = "passed" if good and found.get(key) != "failed" else "failed"
    return found


def _points(text: str) -> Iterator[str]:
    """Lines outside the YAML blocks of diagnostics, which quote what the code under test said."""
    end: str | None = None
    for line in text.split("\n"):
        if end is not None:
            end = None if line == end else end
        elif line.strip() == "---":
            end = line.replace("---", "...")
        else:
            yield line


def _plain(name: str, workspace: str) -> str:
    clean = re.sub(r"\\([#\\])", r"\1", name)
    return clean.removeprefix(f"{workspace}/")
