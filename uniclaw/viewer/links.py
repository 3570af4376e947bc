"""Addresses of pages: on the server, and as relative paths of files."""

import hashlib
import posixpath
import re
from collections.abc import Mapping
from typing import Protocol
from urllib.parse import quote, urlencode

Params = Mapping[str, str]


class Links(Protocol):
    """Gives the address of a page, or None where no such page can be reached."""

    def __call__(self, kind: str, /, **params: str | int) -> str | None:
        """Address of a page by its kind and parameters."""
        ...


PATHS: Mapping[str, tuple[str, ...]] = {
    "runs": (),
    "run": ("r", "run"),
    "episodes": ("r", "run", "=episodes"),
    "matrix": ("r", "run", "=matrix"),
    "tasks": ("r", "run", "=tasks"),
    "task": ("r", "run", "=tasks", "task"),
    "compare": ("r", "run", "=compare"),
    "ablation": ("r", "run", "=ablation"),
    "live": ("r", "run", "=live.json"),
    "runs_live": ("=live.json",),
    "episode": ("r", "run", "=e", "episode"),
    "episode_live": ("r", "run", "=e", "episode", "=live.json"),
    "events": ("r", "run", "=e", "episode", "=events", "round"),
    "event": ("r", "run", "=e", "episode", "=event", "event"),
    "image": ("r", "run", "=e", "episode", "=image", "event", "n"),
    "files": ("r", "run", "=e", "episode", "=files", "round"),
    "preview": ("r", "run", "=e", "episode", "=preview", "round", "path"),
    "raw": ("r", "run", "=e", "episode", "=raw", "round", "path"),
    "film": ("r", "run", "=e", "episode", "=film", "round"),
    "view": ("r", "run", "=e", "episode", "=view", "round"),
    "exchanges": ("r", "run", "=e", "episode", "=exchanges"),
    "exchange": ("r", "run", "=e", "episode", "=exchange", "seq"),
    "pair": ("=pair",),
    "asset": ("=static", "name"),
}
"""Segments of each kind's path: `=` before fixed text (`r` too), else a parameter."""


class ServerLinks:
    """Addresses on the server that renders the page."""

    def __init__(self, keep: Params) -> None:
        """Bind to what every link keeps, such as a language chosen by the address."""
        self._keep = dict(keep)

    def __call__(self, kind: str, /, **params: str | int) -> str | None:
        """Address of a page."""
        rest = {key: str(value) for key, value in params.items() if value != ""}
        segments: list[str] = []
        for part in PATHS[kind]:
            if part == "r" or part.startswith("="):
                segments.append(part.removeprefix("="))
            else:
                safe = "/" if part == "path" else ""
                segments.append(quote(rest.pop(part), safe=safe))
        if kind not in ("asset", "raw", "image", "film"):
            rest = {**self._keep, **rest}
        query = f"?{urlencode(rest)}" if rest else ""
        return f"/{'/'.join(segments)}{query}"


Target = tuple[str, tuple[tuple[str, str], ...]]


def target_of(kind: str, params: Mapping[str, str | int]) -> Target:
    """A page as a key."""
    return kind, tuple(sorted((k, str(v)) for k, v in params.items() if v != ""))


class FileLinks:
    """Relative paths between exported files; remembers every page that was linked to."""

    KINDS: Mapping[str, frozenset[str]] = {
        "runs": frozenset(),
        "run": frozenset({"run", "by"}),
        "episodes": frozenset({"run", "page", "task", "cell"}),
        "matrix": frozenset({"run", "page"}),
        "tasks": frozenset({"run"}),
        "task": frozenset({"run", "task", "hidden"}),
        "compare": frozenset({"run", "a", "b"}),
        "ablation": frozenset({"run"}),
        "episode": frozenset({"run", "episode", "lens"}),
        "events": frozenset({"run", "episode", "round", "page", "lens"}),
        "image": frozenset({"run", "episode", "event", "n"}),
        "files": frozenset({"run", "episode", "round", "page"}),
        "preview": frozenset({"run", "episode", "round", "path"}),
        "raw": frozenset({"run", "episode", "round", "path"}),
        "pair": frozenset({"a", "b"}),
        "asset": frozenset({"name"}),
    }
    """What is exported, and by which parameters; any other link is left out."""

    def __init__(self, here: str, found: dict[Target, str]) -> None:
        """Bind to the file that the page becomes, and to the pages known so far."""
        self._here = here
        self._found = found

    def address(self, kind: str, params: Mapping[str, str | int], prefix: str = "") -> str | None:
        """Relative path of a page, noted for export; None where it is not exported.

        Args:
            kind: of the page.
            params: its parameters.
            prefix: directory that its file stands in.
        """
        target = target_of(kind, params)
        names = {name for name, _ in target[1]}
        if kind not in self.KINDS or not names <= self.KINDS[kind]:
            return None
        return self.relative(prefix + self._found.setdefault(target, file_of(target)))

    def relative(self, path: str) -> str:
        """Path of a file from here."""
        return quote(posixpath.relpath(path, posixpath.dirname(self._here) or "."))


def file_of(target: Target) -> str:
    """The file a page becomes; names that nobody vouches for become hashes or plain letters."""
    kind, given = target
    params = dict(given)
    if kind == "runs":
        return "index.html"
    if kind == "asset":
        return f"static/{params['name']}"
    if kind == "pair":
        return f"pair/{_hash(params['a'], params['b'])}.html"
    base = f"r/{params.pop('run')}"
    if "episode" in params:
        base += f"/e/{params.pop('episode')}"
    if kind in ("raw", "image", "film"):
        return f"{base}/{kind}/{_hash(*(v for _, v in given))}{_ending(kind, params)}"
    if kind in ("run", "episode") and not params:
        return f"{base}/index.html"
    tail = "-".join(_plain(value) for _, value in sorted(params.items()))
    return f"{base}/{kind}{f'-{tail}' if tail else ''}.html"


def _plain(value: str) -> str:
    return value if re.fullmatch(r"[A-Za-z0-9_.]{1,60}", value) else _hash(value)


def _hash(*values: str) -> str:
    return hashlib.sha256("\0".join(values).encode("utf-8", "replace")).hexdigest()[:16]


def _ending(kind: str, params: Params) -> str:
    """Pictures and films keep a type; all else is plain text to any host."""
    ending = "." + params.get("path", "").rpartition(".")[2].lower()
    if kind == "raw" and ending in (".png", ".jpg", ".jpeg", ".gif", ".webp"):
        return ending
    return {"image": ".png", "film": ".mp4"}.get(kind, ".txt")
