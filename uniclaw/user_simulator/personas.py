"""Personas: one text file per name and language under `roles/personas`."""

import re

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.records import Language

PERSONA_DIRECTORY = "roles/personas"
DEFAULT_PERSONA = "default"


def persona_names(assets: Assets, language: Language) -> tuple[str, ...]:
    """Names of all personas that exist in a language."""
    return assets.names(PERSONA_DIRECTORY, f".{language}.md")


def load_persona(name: str, language: Language, assets: Assets) -> str:
    """Text of a persona.

    Raises:
        UserError: no such persona in this language; the message names those there are.
    """
    relative = f"{PERSONA_DIRECTORY}/{name}.{language}.md"
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or not assets.exists(relative):
        known = ", ".join(persona_names(assets, language)) or "none found"
        raise UserError(
            f"unknown persona for language {language!r}; expected one of {known}",
            field="persona",
            value=name,
        )
    return assets.read_text(relative).strip()
