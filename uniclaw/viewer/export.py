"""The same pages as plain files: every page that is linked to, with relative links."""

from pathlib import Path

from uniclaw.errors import UserError
from uniclaw.viewer.access import NoSuchPage
from uniclaw.viewer.app import BYTES, PAGES, error_page
from uniclaw.viewer.labels import LANGS, Lang
from uniclaw.viewer.links import FileLinks, Target, file_of
from uniclaw.viewer.render import HERE, Ask, Site

MARK = ".uniclaw-site"
"""Stands in a directory that we wrote, so that writing there again is no accident."""


def export_site(runs: Path, out: Path, *, hidden: bool) -> int:
    """Write all runs as files for any static host.

    Args:
        runs: directory of runs.
        out: new or empty directory, or one that was written by this before.
        hidden: with the hidden side: verdicts, drafts, the supervisor's and firewall's lens.

    Returns:
        Number of files.

    Raises:
        UserError: the directory holds something else.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).exists())):
        raise UserError("expected a new or an empty directory", field="static", value=str(out))
    site = Site(runs=runs.resolve(), hidden=hidden, static=True)
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).write_text("", encoding="utf-8")
        return _Export(site, out).write()
    except OSError as error:
        raise UserError(f"cannot write: {error}", field="static", value=str(out)) from error


class _Export:
    """Pages are followed from the list of runs, in either language."""

    def __init__(self, site: Site, out: Path) -> None:
        self._site = site
        self._out = out
        self._written = 0

    def write(self) -> int:
        for lang in LANGS:
            self._language(lang)
        for file in (HERE / "static").iterdir():
            self._put(f"static/{file.name}", file.read_bytes())
        return self._written

    def _language(self, lang: Lang) -> None:
        found: dict[Target, str] = {}
        start: Target = ("runs", ())
        found[start] = file_of(start)
        done: set[Target] = set()
        while waiting := [target for target in found if target not in done]:
            for target in waiting:
                done.add(target)
                self._one(target, lang, found)

    def _one(self, target: Target, lang: Lang, found: dict[Target, str]) -> None:
        kind, params = target
        if kind == "asset" or (kind in BYTES and lang != LANGS[0]):
            return
        path = file_of(target)
        ask = Ask(
            site=self._site,
            lang=lang,
            links=_LanguageLinks(path, lang, found),
            params={"run": "", **dict(params)},
        )
        if kind in BYTES:
            self._put(path, _bytes(kind, ask))
            return
        try:
            html = PAGES[kind](ask).html
        except NoSuchPage as error:
            html = error_page(ask, error).html
        except OSError as error:
            html = error_page(ask, NoSuchPage("error.gone", str(error.strerror or ""))).html
        self._put(_in_language(path, lang), html.encode("utf-8", "replace"))

    def _put(self, path: str, data: bytes) -> None:
        place = self._out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        self._written += 1


def _bytes(kind: str, ask: Ask) -> bytes:
    try:
        return BYTES[kind](ask)
    except (NoSuchPage, OSError):
        return b""


def _in_language(path: str, lang: Lang) -> str:
    return path if lang == LANGS[0] else f"{lang}/{path}"


class _LanguageLinks:
    """Links of a page in one language; stored bytes and assets stand once for both."""

    def __init__(self, path: str, lang: Lang, found: dict[Target, str]) -> None:
        self._path = path
        self._lang: Lang = lang
        self._links = FileLinks(_in_language(path, lang), found)

    def __call__(self, kind: str, /, **params: str | int) -> str | None:
        """Relative path of a page."""
        other = params.pop("lang", None)
        if other is not None:
            lang: Lang = "zh" if other == "zh" else "en"
            return self._links.relative(_in_language(self._path, lang))
        prefix = "" if kind in BYTES or kind == "asset" else _in_language("", self._lang)
        return self._links.address(kind, params, prefix)
