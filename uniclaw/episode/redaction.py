"""Takes private values out of a round's frozen files, before anyone reads them."""

import hashlib
from pathlib import Path

from uniclaw.records import Entry, Manifest
from uniclaw.suites.privacy import Secrets


def redact_tree(manifest: Manifest, root: Path, secrets: Secrets) -> Manifest:
    """The manifest of a tree whose files hold names in place of values.

    Args:
        manifest: of the files under `root`.
        root: the file `/a/b` lies at `root/a/b`.
        secrets: what to take out.
    """
    if not secrets.values:
        return manifest
    entries = tuple(_redacted(entry, root, secrets) for entry in manifest.entries)
    return manifest.model_copy(update={"entries": entries})


def _redacted(entry: Entry, root: Path, secrets: Secrets) -> Entry:
    if entry.kind != "file" or entry.skipped is not None or entry.change == "deleted":
        return entry
    path = root / entry.path.lstrip("/")
    if path.is_symlink() or not path.is_file():
        return entry
    data = path.read_bytes()
    clean = secrets.redact_bytes(data)
    if clean == data:
        return entry
    path.write_bytes(clean)
    digest = hashlib.sha256(clean).hexdigest()
    return entry.model_copy(update={"size": len(clean), "sha256": digest})
