"""Words of the pages, from a catalogue in English and Chinese."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from uniclaw.yamlio import read_yaml

Lang = Literal["en", "zh"]
LANGS: tuple[Lang, ...] = get_args(Lang)
FILE = Path(__file__).parent / "labels.yaml"


@cache
def catalogue() -> Mapping[str, Mapping[str, str]]:
    """All labels: key -> language -> text."""
    data = read_yaml(FILE)
    assert isinstance(data, dict)
    found: dict[str, Mapping[str, str]] = {}
    for key, texts in data.items():
        assert isinstance(texts, list)
        assert len(texts) == len(LANGS), key
        found[key] = dict(zip(LANGS, map(str, texts), strict=True))
    return found


def label(lang: Lang, key: str, /, **values: object) -> str:
    """One label, with its values filled in."""
    text = catalogue()[key][lang]
    return text.format(**values) if values else text


def named(lang: Lang, group: str, value: str) -> str:
    """A word of the store in the page's language; as it is where the catalogue has none."""
    texts = catalogue().get(f"{group}.{value}")
    return value.replace("_", " ") if texts is None else texts[lang]


def chosen_lang(asked: str, accepted: str) -> Lang:
    """The language of a page: asked for by the address, else what the browser accepts."""
    if asked == "zh" or asked == "en":
        return asked
    for part in accepted.lower().split(","):
        name = part.split(";")[0].strip()
        if name.startswith("zh"):
            return "zh"
        if name.startswith("en"):
            return "en"
    return "en"
