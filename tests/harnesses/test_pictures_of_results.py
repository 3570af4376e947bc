"""Pictures that a tool gave back are kept with the episode, whichever way they are written."""

import base64
from pathlib import Path

import pytest
from pydantic import JsonValue

from uniclaw.episode.files import EpisodeFiles
from uniclaw.harnesses.chat_lines import write_chat
from uniclaw.harnesses.pictures import MAX_PICTURES, pictures_in
from uniclaw.harnesses.recorder import Recorder

PNG = b"\x89PNG\r\n\x1a\n and so on"
DATA = base64.b64encode(PNG).decode()
URL = f"data:image/png;base64,{DATA}"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        {"type": "image", "mimeType": "image/png", "data": DATA},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "input_image", "image_url": URL},
        {"type": "tool_result", "content": [{"type": "image", "data": DATA}]},
    ],
)
def test_a_picture_is_found_in_every_shape(block: JsonValue) -> None:
    assert pictures_in([{"type": "text", "text": "see"}, block]) == [PNG]


def test_what_is_no_picture_is_left_out() -> None:
    deep: JsonValue = {"type": "image", "data": DATA}
    for _ in range(50):
        deep = [deep]
    others: list[JsonValue] = [
        None,
        "text",
        deep,
        {"type": "image", "data": "no base64!"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
        {"type": "image", "source": {"type": "url", "url": "x"}},
    ]
    assert pictures_in(others) == []
    many: list[JsonValue] = [{"type": "image", "data": DATA} for _ in range(20)]
    assert len(pictures_in(many)) == MAX_PICTURES


def test_a_result_refers_to_its_picture_in_the_episodes_folder(tmp_path: Path) -> None:
    files = EpisodeFiles(tmp_path)
    record = Recorder(0, files.keep_picture)
    script = base64.b64encode(b"<script>").decode()
    content: list[JsonValue] = [
        {"type": "text", "text": "two"},
        {"type": "image_url", "image_url": {"url": URL}},
        {"type": "image", "data": script},
    ]
    write_chat([{"role": "tool", "tool_call_id": "1", "name": "look", "content": content}], record)
    (event,) = record.events
    assert event.text.startswith("two\n[image ")
    (ref,) = event.images
    assert (tmp_path / ref).read_bytes() == PNG
    assert files.keep_picture(PNG) == ref
    assert [p.name for p in (tmp_path / "pictures").iterdir()] == [Path(ref).name]
