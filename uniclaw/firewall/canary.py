"""Canaries: unguessable marks in text handed to the judge, searched for everywhere else.

One mark per hidden text and episode. Never planted in references that a machine reads.
"""

import base64
import codecs
import random
import re
import secrets
from collections.abc import Iterable, Mapping
from functools import cached_property

from uniclaw.firewall.manystrings import ManyStrings
from uniclaw.records import Record

_ALPHABET = "bcdfghjkmnpqrstvwxz23456789"  # no vowels: no word, and nothing that looks like a hint
_LENGTH = 22
_SQUEEZE = re.compile(rb"[^A-Za-z0-9]+")
_MARK_EVERY = 4_000


def _base64_cores(token: str) -> Iterable[str]:
    """The middle of the token's base64 at each of the three alignments."""
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + token.encode()).decode().rstrip("=")
        yield encoded[4 if shift else 0 : len(encoded) - 2]


def _shapes(token: str) -> set[str]:
    """What a scan looks for, lower case, letters and digits only."""
    shapes = {token, token[::-1], codecs.encode(token, "rot13"), token.encode().hex()}
    shapes |= {re.sub(r"[^A-Za-z0-9]", "", core) for core in _base64_cores(token)}
    return {shape.lower() for shape in shapes}


class CanarySet(Record):
    """The marks of one episode: label of the hidden text -> token."""

    markers: Mapping[str, str] = {}

    @classmethod
    def create(cls, labels: Iterable[str], rng: random.Random | None = None) -> "CanarySet":
        """Draw one token per label.

        Args:
            labels: names of the hidden texts, such as `checkpoint:totals`.
            rng: only for tests; the default is the system's entropy, so that no agent can guess.
        """
        source = rng or secrets.SystemRandom()
        return cls(
            markers={
                label: "".join(source.choice(_ALPHABET) for _ in range(_LENGTH))
                for label in dict.fromkeys(labels)
            }
        )

    def mark(self, label: str, text: str) -> str:
        """Plant the label's token at both ends of a text, and inside a long one."""
        token = f" ({self.markers[label]}) "
        lines = text.splitlines(keepends=True)
        if len(text) <= _MARK_EVERY or len(lines) < 2:
            return f"{token.lstrip()}{text}{token.rstrip()}" if text else token.strip()
        out: list[str] = [token.lstrip()]
        since = 0
        for line in lines:
            if since >= _MARK_EVERY:
                out.append(token.strip() + "\n")
                since = 0
            out.append(line)
            since += len(line)
        return "".join([*out, token.rstrip()])

    @cached_property
    def _index(self) -> ManyStrings[str]:
        return ManyStrings(
            {shape: label for label, token in self.markers.items() for shape in _shapes(token)}
        )

    def hits(self, data: str | bytes) -> tuple[str, ...]:
        """Labels whose token stands in the data, sorted.

        Plain, spaced, with invisible characters between, reversed, rot13, hex and base64; bytes
        are searched as they are, so UTF-16 and binary files are covered too.
        """
        if not self.markers:
            return ()
        raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
        squeezed = _SQUEEZE.sub(b"", raw).decode("ascii").lower()
        return tuple(sorted({label for _, _, label in self._index.found(squeezed)}))

    def strip(self, text: str) -> str:
        """Remove every planted mark, for copies that the policy releases."""
        for token in self.markers.values():
            text = re.sub(rf" ?\(?{token}\)? ?\n?", "", text, flags=re.IGNORECASE)
        return text
