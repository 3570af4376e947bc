"""The judge's read-only tools over frozen artifacts: text as text, pictures as pictures."""

import asyncio
import base64
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from uniclaw.pictures import SUFFIXES, PictureLimits, safe_picture
from uniclaw.ports import ImagePart, TextPart, ToolCall, ToolSpec
from uniclaw.prompts import untrusted
from uniclaw.records import Count, Entry, Record
from uniclaw.supervisor.frozen import FrozenFiles, Unreadable, decode, why_not
from uniclaw.supervisor.judge_evidence import EvidenceLimits, list_entries
from uniclaw.supervisor.renditions import Rendition, Renditions

LIST_FILES = ToolSpec(
    name="list_files",
    description="List the files that the attempt left, from position `offset` on.",
    parameters={
        "type": "object",
        "properties": {"offset": {"type": "integer", "minimum": 0}},
        "required": [],
        "additionalProperties": False,
    },
)
READ_FILE = ToolSpec(
    name="read_file",
    description=(
        "Read a file that the attempt left, from byte `offset` on. Text comes fenced as "
        "untrusted; a picture comes as a picture."
    ),
    parameters={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "offset": {"type": "integer", "minimum": 0},
        },
        "required": ["path"],
        "additionalProperties": False,
    },
)
TOOLS = (LIST_FILES, READ_FILE)


class ReadLimits(Record):
    """What a judge may read before it answers."""

    max_calls: Count = 16
    """Tool calls. 0 offers no tools."""
    max_bytes: Count = 200_000
    """All reads together."""
    max_read_bytes: Count = 24_000
    """One read."""
    max_images: Count = 8
    max_image_bytes: Count = 25_000_000
    """Of the file; larger ones are not opened."""
    max_image_pixels: Count = 60_000_000
    max_image_side: Count = 1_568
    """Larger pictures are scaled down to it."""


class SafeImage(NamedTuple):
    """A picture that was decoded and encoded anew, or why there is none."""

    part: ImagePart | None
    note: str


def safe_image(data: bytes, limits: ReadLimits) -> SafeImage:
    """Decode a picture within limits and encode its first frame anew."""
    bounds = PictureLimits(
        max_bytes=limits.max_image_bytes,
        max_pixels=limits.max_image_pixels,
        max_side=limits.max_image_side,
    )
    safe = safe_picture(data, bounds)
    if safe.data is None:
        return SafeImage(None, safe.note)
    return SafeImage(ImagePart(media_type=safe.media_type, data_base64=safe.data_base64), safe.note)


def looks_like_image(entry: Entry) -> bool:
    """By its name."""
    return entry.path.lower().endswith(SUFFIXES)


@dataclass
class Reader:
    """Answers the judge's tool calls within one budget."""

    files: FrozenFiles
    nonce: str
    limits: ReadLimits
    shown: EvidenceLimits
    renditions: Renditions = field(default_factory=Renditions)
    rendered_in: Path | None = None
    """Where their pictures lie."""
    calls: int = 0
    read_bytes: int = 0
    images: int = 0
    notes: list[str] = field(default_factory=list[str])

    @property
    def open(self) -> bool:
        """Whether another call is allowed."""
        return self.calls < self.limits.max_calls

    async def answer(self, call: ToolCall) -> tuple[TextPart | ImagePart, ...]:
        """The result of one call; trouble is told in words."""
        if not self.open:
            return (TextPart(text="No calls are left. Answer now."),)
        self.calls += 1
        if call.invalid is not None:
            return (TextPart(text="The arguments are not a JSON object."),)
        offset = call.arguments.get("offset", 0)
        if isinstance(offset, bool) or not isinstance(offset, int) or offset < 0:
            return (TextPart(text="`offset` is a number from 0 on."),)
        if call.name == LIST_FILES.name:
            return (TextPart(text=self.listing(offset)),)
        path = call.arguments.get("path")
        if call.name != READ_FILE.name or not isinstance(path, str):
            return (TextPart(text="Use list_files(offset) or read_file(path, offset)."),)
        return await self._read(path, offset)

    def listing(self, offset: int) -> str:
        """The listing from a position on, fenced."""
        cut = list_entries(self.files.entries(), offset, self.shown.max_files)
        text = untrusted(cut.text, nonce=self.nonce, label="files")
        more = f"\n{cut.omitted_bytes} more follow." if cut.omitted_bytes else ""
        return text + more

    async def _read(self, path: str, offset: int) -> tuple[TextPart | ImagePart, ...]:
        # a name with glob characters is meant literally here
        wanted = str(self.files.base / path) if "\0" not in path else ""
        entry = next((e for e in self.files.entries() if e.path == wanted), None)
        if entry is None:
            return (TextPart(text="There is no such file. list_files() names them all."),)
        try:
            if entry.kind != "file" or entry.skipped is not None:
                raise Unreadable(why_not(entry))
            if looks_like_image(entry):
                return await self.image(entry)
            seen = self.renditions.of(entry.path)
            if seen is not None and offset == 0 and (seen.pictures or seen.text):
                return await self.rendered(seen)
            return (TextPart(text=self._text(entry, offset)),)
        except Unreadable as error:
            return (TextPart(text=untrusted(str(error), nonce=self.nonce, label="error")),)

    def _text(self, entry: Entry, offset: int) -> str:
        left = min(self.limits.max_read_bytes, self.limits.max_bytes - self.read_bytes)
        if left <= 0:
            return "The byte budget is used up. Answer now."
        with self.files.host_path(entry).open("rb") as stream:
            stream.seek(offset)
            data = stream.read(left)
            size = stream.seek(0, io.SEEK_END)
        self.read_bytes += len(data)
        end = offset + len(data)
        kind = "binary file, shown as text; " if b"\0" in data[:8192] else ""
        fenced = untrusted(decode(data), nonce=self.nonce, label=entry.path)
        return f"({kind}bytes {offset} to {end} of {size})\n{fenced}"

    async def rendered(self, seen: Rendition) -> tuple[TextPart | ImagePart, ...]:
        """A document as pictures and text; the original's bytes are read from offset 1 on."""
        told = [f"({seen.note}; as it looks)"]
        if seen.text:
            left = min(self.limits.max_read_bytes, self.limits.max_bytes - self.read_bytes)
            shown = seen.text.encode("utf-8", "replace")[: max(0, left)]
            self.read_bytes += len(shown)
            told.append(shown.decode("utf-8", "ignore"))
        parts: list[TextPart | ImagePart] = [
            TextPart(text=untrusted("\n".join(told), nonce=self.nonce, label=seen.path))
        ]
        place = self.rendered_in
        for picture in seen.pictures:
            if place is None:
                break
            if self.images >= self.limits.max_images:
                parts.append(TextPart(text="(no more pictures are shown)"))
                break
            data = await asyncio.to_thread((place / picture.file).read_bytes)
            self.images += 1
            encoded = base64.b64encode(data).decode("ascii")
            parts.append(TextPart(text=f"({picture.note})"))
            parts.append(ImagePart(media_type=picture.media_type, data_base64=encoded))
        return tuple(parts)

    async def image(self, entry: Entry) -> tuple[TextPart | ImagePart, ...]:
        """A picture as a picture, or a note."""
        name = untrusted(entry.path, nonce=self.nonce, label="path")
        if self.images >= self.limits.max_images:
            return (TextPart(text=f"{name}\n(no more pictures are shown)"),)
        try:
            data = self.files.read(entry, max_bytes=self.limits.max_image_bytes)
        except Unreadable:
            return (TextPart(text=f"{name}\n(picture of {entry.size} bytes, not opened)"),)
        safe = await asyncio.to_thread(safe_image, data, self.limits)
        text = TextPart(text=f"{name}\n({safe.note})")
        if safe.part is None:
            return (text,)
        self.images += 1
        return (text, safe.part)
