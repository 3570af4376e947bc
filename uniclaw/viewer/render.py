"""Turn a page's values into HTML: templates that escape everything, and how numbers are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jinja2

from uniclaw.viewer.access import Folder, run_folder
from uniclaw.viewer.labels import Lang, label, named
from uniclaw.viewer.links import Links

HERE = Path(__file__).parent
NO_VALUE = "–"


@dataclass(frozen=True, kw_only=True)
class Site:
    """What is shown, and how much of it."""

    runs: Path
    hidden: bool = False
    """Started with `--hidden`: the hidden side of tasks can be asked for."""
    static: bool = False
    """Pages become files."""


@dataclass(kw_only=True)
class Ask:
    """One page as it was asked for."""

    site: Site
    lang: Lang
    links: Links
    params: Mapping[str, str] = field(default_factory=dict[str, str])

    def text(self, name: str, default: str = "") -> str:
        """A parameter."""
        return self.params.get(name, default)[:400]

    def number(self, name: str, default: int = 0) -> int:
        """A parameter that is a count; anything else is the default."""
        text = self.params.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 8 else default

    @property
    def patience_s(self) -> float | None:
        """How long the page waits for its figures; files wait to the end."""
        return None if self.site.static else 0.25

    @property
    def moment_s(self) -> float | None:
        """How long it waits for what a line can do without."""
        return None if self.site.static else 0.03

    def run(self) -> Folder:
        """The directory of the run that the page is about."""
        return run_folder(self.site.runs, self.text("run"))

    def label(self, key: str, /, **values: object) -> str:
        """A label in the page's language."""
        return label(self.lang, key, **values)


class Page(NamedTuple):
    """A rendered page."""

    html: str
    status: int = 200


class Pager(NamedTuple):
    """Where in a list a page stands."""

    page: int
    pages: int
    total: int
    first: int
    last: int


def pager(page: int, total: int, size: int) -> Pager:
    """The page of a list, kept inside it; pages count from 1."""
    pages = max(1, -(-total // size))
    at = min(max(page, 1), pages)
    return Pager(at, pages, total, (at - 1) * size, min(at * size, total))


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        score=score,
        percent=percent,
        seconds=seconds,
        money=money,
        count=count,
        size=size,
        visible=visible,
    )
    return environment


def prepare() -> None:
    """Compile all templates, so that no visitor waits for it."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def render(
    template: str,
    ask: Ask,
    *,
    here: tuple[str, Mapping[str, str]],
    status: int = 200,
    **values: object,
) -> Page:
    """Fill a template; `here` is the page's own kind and parameters, for its other language."""

    def other(lang: str) -> str | None:
        return ask.links(here[0], **here[1], lang=lang)

    def word(group: str, value: object) -> str:
        return named(ask.lang, group, str(value))

    html = (
        _environment()
        .get_template(template)
        .render(
            ask=ask,
            lang=ask.lang,
            static=ask.site.static,
            href=ask.links,
            t=ask.label,
            named=word,
            other_lang=other,
            **values,
        )
    )
    return Page(html, status)


def score(value: float | None) -> str:
    """A score between 0 and 1."""
    return NO_VALUE if value is None else f"{value:.3f}".rstrip("0").rstrip(".") or "0"


def percent(value: float | None) -> str:
    """A share."""
    return NO_VALUE if value is None else f"{100 * value:.1f}%"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None:
        return NO_VALUE
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 90:
        return f"{value:.1f} s"
    if value < 5400:
        return f"{int(value // 60)} min {int(value % 60):02d} s"
    return f"{int(value // 3600)} h {int(value % 3600 // 60):02d} min"


def money(value: float | None) -> str:
    """US dollars."""
    if value is None:
        return NO_VALUE
    return f"${value:.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def count(value: int | None) -> str:
    """A number with separators."""
    return NO_VALUE if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Bytes."""
    if value is None:
        return NO_VALUE
    amount = float(value)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return (
                f"{amount:.0f} {unit}" if unit == "B" or amount >= 100 else f"{amount:.1f} {unit}"
            )
        amount /= 1000
    return f"{amount:.1f} GB"


_INVISIBLE = {
    **{
        code: f"\u27e8U+{code:04X}\u27e9"
        for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
    },
    **{code: "\ufffd" for code in range(0x20) if code not in (0x9, 0xA, 0xD)},
}


def visible(text: str) -> str:
    """Text with control and direction characters made visible, so that it cannot reorder a page."""
    return text.translate(_INVISIBLE).encode("utf-8", "replace").decode()
