"""Render prompt files strictly, and fence text that nobody vouches for."""

import re
import secrets
import unicodedata
from functools import lru_cache

import jinja2

from uniclaw.errors import UserError

_FENCE = re.compile(r"(?i)<\s*/?\s*untrusted[^>]*>")
_INVISIBLE = {"Cf", "Cs", "Co", "Cn"}


def new_nonce() -> str:
    """A fresh fence nonce of 128 bits."""
    return secrets.token_hex(16)


def clean(text: str) -> str:
    """Replace what could hide structure: bidi and zero-width characters, lone surrogates, NUL."""
    return "".join(
        char
        if char in "\n\t" or (char >= " " and unicodedata.category(char) not in _INVISIBLE)
        else "\ufffd"
        for char in text
    )


def untrusted(text: str, *, nonce: str, label: str) -> str:
    """Fence text so that nothing in it can end the fence or pose as another.

    Args:
        text: anything an agent, tool or model wrote.
        nonce: of this prompt; the same for all of its fences.
        label: what it is, such as `final_message`; `[a-z0-9_.-]` only.
    """
    safe = _FENCE.sub(lambda m: m.group().replace("<", "‹").replace(">", "›"), clean(text))
    safe = safe.replace(nonce, "*" * len(nonce))
    name = re.sub(r"[^A-Za-z0-9_./-]", "_", label)
    return f'<untrusted nonce="{nonce}" name="{name}">\n{safe}\n</untrusted nonce="{nonce}">'


@lru_cache(maxsize=256)
def _compiled(source: str) -> jinja2.Template:
    """A prompt is rendered many times in a run, and compiled once."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # prompts are text, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=False,
    )
    return environment.from_string(source)


def render(source: str, /, *, file: str, **values: object) -> str:
    """Render a Jinja template with `StrictUndefined`.

    Raises:
        UserError: the template is broken or names a value that is not given.
    """
    try:
        return _compiled(source).render(values).strip() + "\n"
    except jinja2.TemplateError as error:
        raise UserError(f"prompt cannot be rendered: {error}", file=file) from error
