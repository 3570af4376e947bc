"""Makes pictures and text of documents; runs in a container, with the standard library alone.

    python3 render_runner.py JOBS NONCE

JOBS is a JSON list of {"id", "path", "kind", "out", "pages"}; pictures go into the directory `out`.
Prints one line: NONCE and a JSON list of {"id", "pages": [[name, note]], "text", "note"}.
"""

from __future__ import annotations

import csv
import io
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable

ALL_SHEETS = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
"""Comma, quote, UTF-8, from the first row on, and every sheet into a file of its own."""
TOOL_S = 120
MAX_TEXT = 24_000
DPI = "80"
Made = tuple[list[tuple[str, str]], str, str]
"""Pictures with what they show, text, and a note on the whole."""


class Trouble(Exception):
    """Why there is no picture."""


def run(*words: str, seconds: int = TOOL_S) -> str:
    """Standard output of a program.

    Raises:
        Trouble: it is missing, fails or takes too long.
    """
    try:
        done = subprocess.run(words, capture_output=True, timeout=seconds, check=False)
    except FileNotFoundError as error:
        raise Trouble(f"{words[0]} is not installed") from error
    except subprocess.TimeoutExpired as error:
        raise Trouble(f"{words[0]} took more than {seconds} s") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise Trouble(f"{words[0]} failed: {said[-1][:200] if said else done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def pdf(path: pathlib.Path, out: pathlib.Path, pages: int) -> Made:
    """First pages of a PDF, and its text."""
    shown = run("pdfinfo", str(path))
    total = next((int(x.split()[1]) for x in shown.splitlines() if x.startswith("Pages:")), 0)
    run("pdftoppm", "-png", "-r", DPI, "-l", str(pages), str(path), str(out / "page"))
    found = sorted(out.glob("page*.png"))
    named = [(p.name, f"page {n} of {total}") for n, p in enumerate(found, 1)]
    text = run("pdftotext", "-layout", "-l", str(pages * 4), str(path), "-")
    return named, text, f"{total} pages"


def convert(path: pathlib.Path, out: pathlib.Path, form: str) -> None:
    """Convert with a profile of its own, so that nothing is shared between documents."""
    profile = f"-env:UserInstallation=file://{out.resolve()}/profile"
    run("soffice", profile, "--headless", "--convert-to", form, "--outdir", str(out), str(path))


def document(path: pathlib.Path, out: pathlib.Path, pages: int) -> Made:
    """An office document, by way of a PDF."""
    convert(path, out, "pdf")
    made = next(iter(sorted(out.glob("*.pdf"))), None)
    if made is None:
        raise Trouble("soffice made no PDF of it")
    return pdf(made, out, pages)


def sheet(path: pathlib.Path, out: pathlib.Path, pages: int) -> Made:
    """A workbook: its cells, sheet by sheet, and a rendered view."""
    convert(path, out, ALL_SHEETS)
    parts: list[str] = []
    for made in sorted(out.glob("*.csv")):
        name = made.stem[len(path.stem) + 1 :] or "sheet"
        rows = list(csv.reader(io.StringIO(made.read_text("utf-8", "replace"))))
        body = "\n".join(" | ".join(row) for row in rows)
        parts.append(f"sheet {name}: {len(rows)} rows\n{body}")
    named, _, note = document(path, out, pages)
    return named, "\n\n".join(parts), f"{len(parts)} sheets, {note} when printed"


def duration(path: pathlib.Path) -> float:
    """Seconds of a film or a sound."""
    words = ("-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0")
    try:
        return float(run("ffprobe", *words, str(path)).strip())
    except ValueError as error:
        raise Trouble("ffprobe gives no duration") from error


def video(path: pathlib.Path, out: pathlib.Path, pages: int) -> Made:
    """Frames at equal distances."""
    seconds = duration(path)
    named: list[tuple[str, str]] = []
    for number in range(pages):
        at = seconds * (number + 0.5) / pages
        file = out / f"frame{number}.png"
        start = ("-ss", f"{at:.3f}", "-i", str(path))
        run("ffmpeg", "-v", "error", *start, "-frames:v", "1", str(file))
        if file.is_file():
            named.append((file.name, f"frame at {at:.1f} s of {seconds:.1f} s"))
    return named, "", f"video of {seconds:.1f} s"


def audio(path: pathlib.Path, out: pathlib.Path, pages: int) -> Made:
    """A picture of the loudness; no tool here writes down what is said."""
    seconds = duration(path)
    file = out / "wave.png"
    draw = ("-filter_complex", "showwavespic=s=1000x240", "-frames:v", "1")
    run("ffmpeg", "-v", "error", "-i", str(path), *draw, str(file))
    shown = [(file.name, f"loudness over {seconds:.1f} s")][:pages]
    return shown, "", f"audio of {seconds:.1f} s, no transcript"


KINDS: dict[str, Callable[[pathlib.Path, pathlib.Path, int], Made]] = {
    "pdf": pdf,
    "document": document,
    "sheet": sheet,
    "video": video,
    "audio": audio,
}


def one(job: dict[str, str | int]) -> dict[str, object]:
    """Render one document; trouble becomes its note."""
    out = pathlib.Path(str(job["out"]))
    out.mkdir(parents=True)
    try:
        pages, text, note = KINDS[str(job["kind"])](
            pathlib.Path(str(job["path"])), out, int(job["pages"])
        )
    except (Trouble, OSError, csv.Error) as error:
        return {"id": job["id"], "pages": [], "text": "", "note": f"not rendered: {error}"}
    return {"id": job["id"], "pages": pages, "text": text[:MAX_TEXT], "note": note}


def main() -> None:
    """Do all jobs."""
    jobs = json.loads(pathlib.Path(sys.argv[1]).read_text("utf-8"))
    sys.stdout.write(sys.argv[2] + json.dumps([one(job) for job in jobs]) + "\n")


if __name__ == "__main__":
    main()
