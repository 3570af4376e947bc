"""Reads a Git repository's files, without Git: what it holds beside the history of its HEAD.

The repository is untrusted, and Git would obey its configuration.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

_OBJECT = re.compile(r"objects/([0-9a-f]{2})/([0-9a-f]{38,62})")
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MAX_OBJECT = 2_000_000
_MAX_OBJECTS = 20_000
_HASH_BYTES = 20


def beside_head(files: Mapping[str, Path]) -> dict[str, str]:
    """Repositories among files, each with what it holds beside the history of its HEAD.

    Args:
        files: name -> host file; `x/.git/HEAD` makes `x/.git` a repository.
    """
    found: dict[str, str] = {}
    for name in files:
        if name.endswith("/.git/HEAD"):
            root = name.removesuffix("/HEAD")
            inside = {n[len(root) + 1 :]: p for n, p in files.items() if n.startswith(f"{root}/")}
            said = "; ".join(_beside(inside))
            if said:
                found[root] = said
    return found


def _beside(files: Mapping[str, Path]) -> Iterator[str]:
    head = _read(files["HEAD"]).removeprefix("ref:").strip()
    refs = _refs(files)
    commit = head if _HASH.fullmatch(head) else refs.get(head, "")
    others = sorted(name for name, value in refs.items() if name != head and value != commit)
    if others:
        yield f"refs {_listed(others)}"
    logs = sorted(n for n, p in files.items() if n.startswith("logs/") and p.stat().st_size)
    moved = [n for n in logs if n.startswith("logs/refs/stash") or _read(files[n]).count("\n") > 1]
    if moved:
        yield f"logs of what refs were {_listed(moved)}"
    left = [n for n in ("ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD") if n in files]
    if left:
        yield _listed(left)
    if any(n.startswith("objects/pack/") and n.endswith(".pack") for n in files):
        return
    loose = {"".join(m.groups()): p for n, p in files.items() if (m := _OBJECT.fullmatch(n))}
    unreached = sorted(set(loose) - _reached(commit, loose)) if len(loose) <= _MAX_OBJECTS else []
    if unreached:
        yield f"objects that HEAD does not reach: {_listed([h[:12] for h in unreached])}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_MAX_OBJECT).decode("utf-8", "replace").strip()


def _refs(files: Mapping[str, Path]) -> dict[str, str]:
    """Loose and packed refs; a tag object stands for itself."""
    found: dict[str, str] = {}
    if "packed-refs" in files:
        for line in _read(files["packed-refs"]).splitlines():
            value, _, name = line.partition(" ")
            if _HASH.fullmatch(value) and name.startswith("refs/"):
                found[name] = value
    for name, path in files.items():
        if name.startswith("refs/"):
            found[name] = _read(path)
    return found


def _reached(commit: str, loose: Mapping[str, Path]) -> set[str]:
    seen: set[str] = set()
    waiting = [commit]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in loose:
            continue
        seen.add(name)
        waiting += _links(loose[name])
    return seen


def _links(path: Path) -> list[str]:
    """Objects that a commit, a tag or a tree points to."""
    try:
        data = zlib.decompressobj().decompress(path.read_bytes(), _MAX_OBJECT)
    except zlib.error:
        return []
    kind, _, body = data.partition(b"\0")
    if kind.startswith((b"commit", b"tag")):
        lines = body.partition(b"\n\n")[0].decode("utf-8", "replace").splitlines()
        pairs = [line.partition(" ") for line in lines]
        return [value for key, _, value in pairs if key in {"tree", "parent", "object"}]
    found: list[str] = []
    while kind.startswith(b"tree") and body:
        _, _, rest = body.partition(b"\0")
        found.append(rest[:_HASH_BYTES].hex())
        body = rest[_HASH_BYTES:]
    return found
