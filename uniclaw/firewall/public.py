"""The public texts of a task, as the screen takes them: instruction first, then files."""

from pathlib import Path

from uniclaw.suites.bundle import TaskBundle

MAX_FILE_BYTES = 4_000_000
MAX_TOTAL_BYTES = 24_000_000


def public_texts(bundle: TaskBundle) -> tuple[str, ...]:
    """Instruction, then paths and texts of sources and skills (what an executor may read).

    Binary files count by their name alone.
    """
    task = bundle.task
    texts = [task.instruction]
    names = [*bundle.sources, *(f"skills/{name}" for name in bundle.skills), *task.artifact_roots]
    texts.append("\n".join([*names, task.workspace, *task.skills]))
    left = MAX_TOTAL_BYTES
    files = list(bundle.sources.values())
    for directory in bundle.skills.values():
        files += sorted(p for p in directory.rglob("*") if p.is_file() and not p.is_symlink())
    for file in files:
        text = _text(file, min(left, MAX_FILE_BYTES))
        if text:
            left -= len(text)
            texts.append(f"{file.name}\n{text}")
    return tuple(texts)


def _text(file: Path, max_bytes: int) -> str:
    """Decoded text of a regular file, or nothing for binaries and unreadable files."""
    if file.is_symlink() or max_bytes <= 0:
        return ""
    try:
        with file.open("rb") as stream:
            data = stream.read(max_bytes)
    except OSError:
        return ""
    return "" if b"\0" in data[:8192] else data.decode("utf-8", "replace")
