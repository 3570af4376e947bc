"""Find the asset files (roles, firewall, rubrics, environments, examples) and hash them.

Order: `--assets DIR` or `UNICLAW_ASSETS`, the current directory when it is such a tree, the
checkout, the wheel. The first place that has the file wins, so a single file can be replaced.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from uniclaw.errors import UserError

ASSET_ROOTS = ("roles", "firewall", "rubrics", "environments", "examples")


def _is_tree(directory: Path) -> bool:
    return all((directory / name).is_dir() for name in ("roles", "firewall", "environments"))


def default_roots(
    explicit: Path | None, *, environ: Mapping[str, str] = os.environ, cwd: Path | None = None
) -> tuple[Path, ...]:
    """Places to look, first wins.

    Raises:
        UserError: `explicit` or `UNICLAW_ASSETS` is not a directory.
    """
    roots: list[Path] = []
    given = explicit or (Path(environ["UNICLAW_ASSETS"]) if environ.get("UNICLAW_ASSETS") else None)
    if given is not None:
        if not given.is_dir():
            raise UserError("not a directory", field="assets", value=str(given))
        roots.append(given.resolve())
    here = (cwd or Path.cwd()).resolve()
    checkout = Path(__file__).resolve().parent.parent
    wheel = Path(__file__).resolve().parent / "_assets"
    roots.extend(place for place in (here, checkout, wheel) if _is_tree(place))
    return tuple(dict.fromkeys(roots))


@dataclass
class Assets:
    """The search path, and a log of what was taken from where."""

    roots: tuple[Path, ...]
    used: dict[str, str] = field(default_factory=dict[str, str])
    """Asset path -> sha256 of what was read."""
    taken: dict[str, Path] = field(default_factory=dict[str, Path])

    def find(self, relative: str) -> Path:
        """The first existing file or directory `relative`.

        Raises:
            UserError: nowhere, or the path leaves the tree.
        """
        if ".." in Path(relative).parts or Path(relative).is_absolute():
            raise UserError("asset paths stay inside the asset tree", field="path", value=relative)
        for root in self.roots:
            candidate = root / relative
            if candidate.exists():
                self.taken[relative] = candidate
                return candidate
        places = ", ".join(str(r) for r in self.roots) or "no asset tree found"
        raise UserError(f"asset not found in {places}", field="path", value=relative)

    def exists(self, relative: str) -> bool:
        """Whether any place has it."""
        return any((root / relative).exists() for root in self.roots)

    def read_text(self, relative: str) -> str:
        """Read a UTF-8 file and record its hash."""
        data = self.find(relative).read_bytes()
        self.used[relative] = hashlib.sha256(data).hexdigest()
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UserError("not UTF-8", file=self.taken[relative], value=str(error)) from error

    def names(self, directory: str, suffix: str) -> tuple[str, ...]:
        """File stems with `suffix` under `directory`, over all places, sorted."""
        return tuple(sorted({p.name.removesuffix(suffix) for p in self._files(directory, suffix)}))

    def _files(self, directory: str, suffix: str) -> Iterator[Path]:
        for root in self.roots:
            folder = root / directory
            if folder.is_dir():
                yield from (p for p in folder.iterdir() if p.name.endswith(suffix))


def tree_hash(path: Path) -> str:
    """SHA-256 over relative names and bytes of a file or directory tree; links are refused."""
    digest = hashlib.sha256()
    inside = sorted(p for p in path.rglob("*") if p.is_symlink() or not p.is_dir())
    files = [path] if path.is_file() else inside
    for file in files:
        if file.is_symlink():
            raise UserError("links are not allowed in an asset tree", file=file)
        name = file.relative_to(path).as_posix() if file != path else file.name
        digest.update(f"{name}\0{file.stat().st_size}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
