"""Leak probes: labelled messages in JSON lines, with how they leak or of which sort they are."""

import json
from pathlib import Path
from typing import Final, Literal, cast

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import Language, Record
from uniclaw.yamlio import parse_record

PROBE_DIRECTORY: Final = "firewall/probes"
VALUE_KINDS: Final = frozenset(
    {"number", "date", "identifier", "file_name", "name", "code", "phrase", "near_phrase", "format"}
)
ENCODED_KINDS: Final = frozenset(
    {"reversed", "base64", "hex", "rot13", "spaced", "dashed", "zero width", "homoglyph", "wide"}
    | {"case", "split", "spelled"}
)
SEMANTIC_KINDS: Final = frozenset(
    {"paraphrase", "translation", "acrostic", "count", "oracle", "score", "rubric_talk"}
)


class Probe(Record):
    """One labelled message."""

    id: str
    task_id: str
    language: Language
    label: Literal["leak", "clean"]
    kind: str
    """How it leaks, or of which sort a clean one is."""
    message: str
    visible: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    policy: str = "coarse"

    @property
    def family(self) -> Literal["value", "encoded", "semantic", "clean"]:
        """Which target its kind falls under."""
        if self.label == "clean":
            return "clean"
        if self.kind in SEMANTIC_KINDS:
            return "semantic"
        return "value" if self.kind in VALUE_KINDS else "encoded"


def load_probes(path: Path) -> tuple[Probe, ...]:
    """Read a JSON lines file.

    Raises:
        UserError: a line is no probe; the message names file and line.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", file=path) from error
    probes: list[Probe] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            data = cast("JsonValue", json.loads(line))
        except ValueError as error:
            raise UserError(f"not JSON: {error}", file=where) from error
        probes.append(parse_record(Probe, data, file=where))
    return tuple(probes)


def stored_probes(assets: Assets) -> tuple[Probe, ...]:
    """All probes under `firewall/probes`.

    Raises:
        UserError: a file is broken.
    """
    names = assets.names(PROBE_DIRECTORY, ".jsonl")
    paths = (assets.find(f"{PROBE_DIRECTORY}/{name}.jsonl") for name in names)
    return tuple(probe for path in paths for probe in load_probes(path))
