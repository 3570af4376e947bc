"""What a report is made of, before it takes a form."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, JsonValue

from uniclaw.records import Record
from uniclaw.statistics.estimates import Estimate

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
"""Also a file name."""


class Table(Record):
    """A table of texts; numbers are written out, so that every form shows the same."""

    name: Name
    title: str
    columns: tuple[str, ...]
    numeric: tuple[bool, ...]
    """Columns that are set flush right."""
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Figure(Record):
    """A figure as its data and a Vega-Lite specification over it."""

    name: Name
    title: str
    caption: str
    rows: tuple[Mapping[str, JsonValue], ...]
    spec: Mapping[str, JsonValue]


class Report(Record):
    """A whole document."""

    title: str
    summary: tuple[str, ...]
    """Paragraphs in words of what the numbers say."""
    methods: tuple[str, ...]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]


def share(value: float | None) -> str:
    """A rate or a score with three digits; a dash where there is none."""
    return "–" if value is None else f"{value:.3f}"


def with_interval(estimate: Estimate) -> str:
    """`0.512 [0.447, 0.577]`."""
    if estimate.value is None or estimate.ci is None:
        return share(estimate.value)
    return f"{share(estimate.value)} [{share(estimate.ci[0])}, {share(estimate.ci[1])}]"


def signed(estimate: Estimate) -> str:
    """A difference with its sign and interval."""
    if estimate.value is None:
        return "–"
    ends = "" if estimate.ci is None else f" [{estimate.ci[0]:+.3f}, {estimate.ci[1]:+.3f}]"
    return f"{estimate.value:+.3f}{ends}"


def amount(value: float | None, digits: int = 1) -> str:
    """A mean amount with thousands marked; a dash where there is none."""
    return "–" if value is None else f"{value:,.{digits}f}"
