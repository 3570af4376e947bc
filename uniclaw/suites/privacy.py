"""Values that a task's agent needs and nobody else may read: from a local file, to its environment.

They stand in no record: whatever is stored of an episode has their names in place of them.
"""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from uniclaw.errors import UserError
from uniclaw.records import Record
from uniclaw.suites.files import read_text

R = TypeVar("R", bound=Record)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(
    r"""<.*> | \[.*\] | \{\{.*\}\} | \$\{?\w+\}? | [x*.\-_]{3,}
      | your[-_ ].* | .*[-_ ]here | (?:change|replace|fill|insert|put|paste|enter|set)
        [-_ ]?(?:me|this|in|it|with|your|a|the)(?![a-z0-9]).*
      | (?:todo|tbd|none|null|nil|n/a|changeme)
      | (?:placeholder|dummy|example)(?:[-_ ].*)? | .*\.\.\.+""",
    re.IGNORECASE | re.VERBOSE,
)
_JSON_DEPTH = 3
"""A tool's arguments are JSON in a message's JSON in a record's."""
_WHOLE_WORD_BELOW = 6
"""Shorter values are replaced as whole words alone; they stand in ordinary words by chance."""


@dataclass(frozen=True)
class Secrets:
    """Variables with their values, which no representation shows."""

    values: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    placeholders: frozenset[str] = frozenset()
    """Names whose value in the file is none yet."""

    @property
    def names(self) -> frozenset[str]:
        """Those that have a value."""
        return frozenset(self.values)

    def only(self, names: Iterable[str]) -> "Secrets":
        """The named ones that have a value."""
        return Secrets({name: self.values[name] for name in names if name in self.values})

    @cached_property
    def _patterns(self) -> tuple[tuple[re.Pattern[str], str], ...]:
        # Longest first: one value may stand in another.
        forms = sorted(
            ((form, name) for name, value in self.values.items() for form in _forms(value)),
            key=lambda item: -len(item[0]),
        )
        return tuple((_pattern(form), f"[{name}]") for form, name in forms)

    def redact(self, text: str) -> str:
        """The text with names in place of values, also of their usual encodings."""
        for pattern, name in self._patterns:
            text = pattern.sub(lambda _, name=name: name, text)
        return text

    def redact_bytes(self, data: bytes) -> bytes:
        """The same for bytes of any kind."""
        if not self.values:
            return data
        # Latin-1 keeps every byte; the values are looked for as their UTF-8 bytes.
        text = data.decode("latin-1")
        for pattern, name in self._patterns:
            raw = re.compile(pattern.pattern.encode("utf-8").decode("latin-1"))
            text = raw.sub(lambda _, name=name: name, text)
        return text.encode("latin-1")

    def redact_record(self, record: R) -> R:
        """A record without the values in any of its texts."""
        if not self.values:
            return record
        text = record.model_dump_json()
        clean = self.redact(text)
        return record if clean == text else type(record).model_validate_json(clean)


def _forms(value: str) -> set[str]:
    forms = {value}
    for _ in range(_JSON_DEPTH):
        forms |= {json.dumps(f, ensure_ascii=a)[1:-1] for f in forms for a in (True, False)}
    if len(value) >= _WHOLE_WORD_BELOW:
        forms.add(quote(value, safe=""))
        forms.add(base64.b64encode(value.encode("utf-8", "replace")).decode("ascii"))
    return forms


def _pattern(form: str) -> re.Pattern[str]:
    plain = re.escape(form)
    return re.compile(rf"(?<!\w){plain}(?!\w)" if len(form) < _WHOLE_WORD_BELOW else plain)


def read_secrets(file: Path | None) -> Secrets:
    """Read `NAME=value` lines; None gives no variables.

    Raises:
        UserError: it cannot be read, or a line is none. No message holds a value.
    """
    if file is None:
        return Secrets()
    values: dict[str, str] = {}
    placeholders: set[str] = set()
    for number, line in enumerate(read_text(file).splitlines(), 1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not _NAME.fullmatch(name):
            raise UserError("expected NAME=value", file=file, field=f"line {number}")
        if name in values or name in placeholders:
            raise UserError("stands twice", file=file, field=f"line {number}", value=name)
        clean = _unquoted(value.strip())
        if not clean or _PLACEHOLDER.fullmatch(clean):
            placeholders.add(name)
        else:
            values[name] = clean
    return Secrets(values, frozenset(placeholders))


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if quoted else value
