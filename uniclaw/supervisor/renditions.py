"""Documents, films and sounds as judge and user simulator can see them: pictures, cells, text.

Made once a round in a container of its own that holds nothing hidden and has no network; the
originals stay as they are. A rendering that fails is a note and never changes a score.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from uniclaw.errors import InfraError, StoreError, UserError
from uniclaw.pictures import PictureLimits, safe_picture
from uniclaw.ports import Environment, EnvironmentFactory, EnvironmentSpec, Limits
from uniclaw.records import Count, Entry, Record
from uniclaw.store.atomic import write_bytes, write_json
from uniclaw.trajectory import Evidence

IMAGE = "office"
"""Recipe with poppler, LibreOffice and ffmpeg."""
INDEX = "index.json"
HOME = "/render"
_PROGRAM = Path(__file__).with_name("render_runner.py")
_TIMEOUT_S = 300.0
_MAX_OUTPUT = 4_000_000
MAX_NOTE = 500
MAX_TEXT = 24_000

Kind = Literal["pdf", "document", "sheet", "video", "audio"]
KINDS: Mapping[Kind, tuple[str, ...]] = {
    "pdf": (".pdf",),
    "document": (".docx", ".doc", ".odt", ".rtf", ".pptx", ".ppt", ".odp"),
    "sheet": (".xlsx", ".xls", ".ods"),
    "video": (".mp4", ".webm", ".mov", ".mkv", ".avi"),
    "audio": (".wav", ".mp3", ".ogg", ".m4a", ".flac"),
}


class RenderLimits(Record):
    """What is rendered of one round."""

    max_files: Count = 6
    max_file_bytes: Count = 30_000_000
    max_pages: Count = 4
    """Pictures of one file."""


class Picture(Record):
    """One picture of a file."""

    file: str
    """Name beside the index."""
    media_type: Literal["image/png", "image/jpeg"]
    note: str


class Rendition(Record):
    """One file as it can be seen."""

    path: str
    """Absolute path inside, of the original."""
    note: str
    text: str = ""
    pictures: tuple[Picture, ...] = ()


class Renditions(Record):
    """All of a round."""

    files: tuple[Rendition, ...] = ()
    left_out: Count = 0
    """Files past the limits."""
    problem: str | None = None
    """Why nothing could be rendered."""

    def of(self, path: str) -> Rendition | None:
        """The rendition of a file."""
        return next((r for r in self.files if r.path == path), None)


def place_of(evidence: Evidence) -> Path:
    """Where a round's renditions lie: beside its frozen files, not among them."""
    return evidence.files_root.with_name(f"{evidence.files_root.name}.renditions")


def renditions_of(evidence: Evidence) -> Renditions:
    """What was rendered of a round; nothing where it was not.

    Raises:
        StoreError: the index is damaged.
    """
    file = place_of(evidence) / INDEX
    try:
        return Renditions.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return Renditions()
    except ValidationError as error:
        raise StoreError(f"{file}: {error.error_count()} fields do not fit") from error


def kind_of(path: str) -> Kind | None:
    """How a file would be rendered, by its name."""
    ending = PurePosixPath(path).suffix.lower()
    return next((kind for kind, endings in KINDS.items() if ending in endings), None)


_PageName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,80}\.png$")]


class _Answer(Record):
    """What the program says of one file. A document may have taken it over: nothing is trusted."""

    id: Count
    pages: tuple[tuple[_PageName, str], ...]
    text: str
    note: str


_ANSWERS = TypeAdapter(tuple[_Answer, ...])


class Renderer:
    """Renders rounds of one episode."""

    def __init__(
        self,
        factory: EnvironmentFactory,
        labels: Mapping[str, str],
        limits: RenderLimits | None = None,
    ) -> None:
        """Bind; nothing is started before there is something to render."""
        self._factory = factory
        self._labels = dict(labels)
        self._limits = limits or RenderLimits()

    async def render(self, evidence: Evidence) -> Renditions | None:
        """Render what a round added or changed; None when there is nothing of the kind.

        Done once: what is there already is taken.
        """
        place = place_of(evidence)
        if (place / INDEX).is_file():
            return renditions_of(evidence)
        wanted = [e for e in evidence.manifest.files() if e.change != "same" and kind_of(e.path)]
        if not wanted:
            return None
        fitting = [e for e in wanted if e.size <= self._limits.max_file_bytes]
        chosen = fitting[: self._limits.max_files]
        try:
            found = await self._render(evidence, chosen, place)
        except (InfraError, UserError) as error:
            found = Renditions(problem=str(error)[:500])
        found = found.model_copy(update={"left_out": len(wanted) - len(chosen)})
        write_json(place / INDEX, found)
        return found

    async def _render(
        self, evidence: Evidence, entries: Sequence[Entry], place: Path
    ) -> Renditions:
        environment = await self._factory.start(
            EnvironmentSpec(image=IMAGE, workspace=HOME, limits=Limits(), labels=self._labels)
        )
        try:
            answers = await self._ask(environment, evidence, entries)
            files = [
                await self._collect(environment, entry, answer, place, number)
                for number, (entry, answer) in enumerate(zip(entries, answers, strict=True))
            ]
        finally:
            await environment.close()
        return Renditions(files=tuple(files))

    async def _ask(
        self, environment: Environment, evidence: Evidence, entries: Sequence[Entry]
    ) -> tuple[_Answer, ...]:
        nonce = secrets.token_hex(16)
        put: dict[str, bytes | Path] = {f"{HOME}/render_runner.py": _PROGRAM}
        jobs: list[JsonValue] = []
        for number, entry in enumerate(entries):
            host = evidence.host_path(entry)
            assert host is not None
            # A name of ours: the agent's could be taken for an option.
            name = f"in/{number}{PurePosixPath(entry.path).suffix.lower()}"
            put[f"{HOME}/{name}"] = host
            jobs.append(
                {
                    "id": number,
                    "path": name,
                    "kind": kind_of(entry.path),
                    "out": f"out/{number}",
                    "pages": self._limits.max_pages,
                }
            )
        put[f"{HOME}/jobs.json"] = json.dumps(jobs).encode()
        await environment.put(put)
        done = await environment.exec(
            ["python3", "-I", "render_runner.py", "jobs.json", nonce],
            cwd=HOME,
            timeout_s=_TIMEOUT_S,
            max_bytes=_MAX_OUTPUT,
        )
        line = next(
            (x for x in done.stdout.decode("utf-8", "replace").splitlines() if x.startswith(nonce)),
            None,
        )
        if line is None:
            raise InfraError(f"nothing was rendered (exit code {done.exit_code})")
        try:
            answers = _ANSWERS.validate_json(line.removeprefix(nonce))
        except ValidationError as error:
            raise InfraError("the rendering program gave no usable answer") from error
        if [answer.id for answer in answers] != list(range(len(entries))):
            raise InfraError("the rendering program did not answer for every file")
        return answers

    async def _collect(
        self,
        environment: Environment,
        entry: Entry,
        answer: _Answer,
        place: Path,
        number: int,
    ) -> Rendition:
        pictures: list[Picture] = []
        for at, (name, note) in enumerate(answer.pages[: self._limits.max_pages]):
            try:
                data = await environment.get(f"{HOME}/out/{number}/{name}")
            except (FileNotFoundError, ValueError):
                continue  # too large to show
            safe = safe_picture(data, PictureLimits())
            if safe.data is None:
                continue
            file = f"{number}-{at}.{safe.media_type.removeprefix('image/')}"
            write_bytes(place / file, safe.data)
            pictures.append(Picture(file=file, media_type=safe.media_type, note=note[:MAX_NOTE]))
        return Rendition(
            path=entry.path,
            note=answer.note[:MAX_NOTE],
            text=answer.text[:MAX_TEXT],
            pictures=tuple(pictures),
        )
