"""Write files so that a reader sees the old bytes or the new ones, never a mixture."""

import json
import os
import secrets
from pathlib import Path

from pydantic import BaseModel, JsonValue

from uniclaw.errors import StoreError
from uniclaw.failpoints import reach

TEMPORARY = ".uniclaw-"
"""Prefix of files that are being written; after a crash they are litter."""
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_bytes(path: Path | str, data: bytes) -> None:
    """Write through a temporary file, fsync, rename, fsync of the directory (in this order).

    Raises:
        StoreError: the disk is full or the directory cannot be written.
    """
    # Strings, not `Path`: some forty files are written per episode.
    directory, _, own = str(path).rpartition("/")
    directory = directory or "."
    name = f"{directory}/{TEMPORARY}{own[:40]}.{secrets.token_hex(8)}"
    temporary: str | None = None
    try:
        handle = _create(name, directory)
        temporary = name
        with os.fdopen(handle, "wb") as file:
            reach("file.opened")
            file.write(data)
            file.flush()
            reach("file.written")
            os.fsync(file.fileno())
        reach("file.synced")
        os.replace(temporary, path)  # noqa: PTH105 - see above
        temporary = None
        reach("file.renamed")
        sync_directory(directory)
        reach("file.durable")
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}") from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def write_mark(path: str) -> bool:
    """Create an empty file durably; False when it is there already.

    Raises:
        StoreError: the disk is full or the directory cannot be written.
    """
    directory = path.rpartition("/")[0] or "."
    try:
        os.close(_create(path, directory))
        reach("file.renamed")
        sync_directory(directory)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}") from error
    reach("file.durable")
    return True


def _create(path: str, directory: str) -> int:
    """Open a new file; its directory is made only where it is missing, which is rare."""
    try:
        return os.open(path, _NEW_FILE, 0o600)
    except FileNotFoundError:
        _make(Path(directory))
        return os.open(path, _NEW_FILE, 0o600)


def _make(directory: Path) -> None:
    missing = [d for d in (directory, *directory.parents) if not d.is_dir()]
    directory.mkdir(parents=True, exist_ok=True)
    for made in missing:
        sync_directory(made.parent)


def sync_directory(path: Path | str) -> None:
    """Make a rename in `path` durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def to_json(value: JsonValue | BaseModel, *, indent: int | None = None) -> str:
    """JSON text: UTF-8 kept, no NaN, lone surrogates replaced."""
    data = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, indent=indent)
    return text.encode("utf-8", "replace").decode("utf-8")


def write_json(path: Path, value: JsonValue | BaseModel) -> None:
    """Write one JSON document atomically, on one line: an indent costs ten times the CPU."""
    write_bytes(path, (to_json(value) + "\n").encode())


def read_json(path: Path) -> JsonValue:
    """Read one JSON document.

    Raises:
        StoreError: missing, not UTF-8 or not JSON; the message names the file.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StoreError(f"cannot read {path}: {error}") from error
