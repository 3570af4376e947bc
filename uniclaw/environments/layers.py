"""Harness layers: what a harness needs, installed on top of any environment.

A layer is a recipe under `environments/harness/<name>/`, in the words of every other recipe. Its
`from` is `environment`, or another layer that it needs (`node`). The image `base+codex` is the
environment `base` with the layer `codex`; its tag follows from both. Must not know what a harness
does.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from uniclaw.assets import Assets
from uniclaw.environments.recipe import Recipe, check_name, load_recipe
from uniclaw.errors import UserError

ENVIRONMENT = "environment"
"""The `from` of a layer that stands on the environment itself."""
SEPARATOR = "+"
DIRECTORY = "environments/harness"

_MAX_DEPTH = 8


class Builder(Protocol):
    """What builds images; see `images.Images`."""

    def build(self, name: str, progress: Callable[[str], None]) -> object:
        """Build an image and what it stands on."""
        ...

    def self_test(self, name: str) -> object:
        """Run an image's self-test."""
        ...


def layered(environment: str, harness: str) -> str:
    """Name of the image of an environment with a harness layer."""
    return f"{check_name(environment)}{SEPARATOR}{check_name(harness)}"


def split(name: str) -> tuple[str, str | None]:
    """An image's environment and, where it has one, its layer."""
    environment, found, layer = name.partition(SEPARATOR)
    return environment, layer if found else None


def layer_names(assets: Assets) -> tuple[str, ...]:
    """All layers of the asset tree, those that others stand on included."""
    found: set[str] = set()
    for root in assets.roots:
        found |= {p.parent.name for p in (root / DIRECTORY).glob("*/recipe.yaml")}
    return tuple(sorted(found))


def layer_chain(environment: str, layer: str, assets: Assets) -> tuple[Recipe, ...]:
    """The recipes of a layer and of the layers it needs, lowest first, named as images.

    Raises:
        UserError: there is no such layer, it is broken, or layers stand on each other in a circle.
    """
    chain: list[Recipe] = []
    current = layer
    while current != ENVIRONMENT:
        name = layered(environment, current)
        if len(chain) > _MAX_DEPTH or any(r.name == name for r in chain):
            raise UserError("layers stand on each other in a circle", field="from", value=current)
        relative = f"{DIRECTORY}/{current}"
        if not assets.exists(f"{relative}/recipe.yaml"):
            known = ", ".join(layer_names(assets))
            raise UserError(f"no such harness layer; known are {known}", value=current)
        recipe = load_recipe(current, assets.find(relative))
        assets.used[relative] = recipe.sha256
        chain.append(replace(recipe, name=name))
        current = recipe.parent
    return tuple(reversed(chain))


def build_layer(
    images: Builder, environment: str, harness: str, progress: Callable[[str], None]
) -> str:
    """Build the image of an environment with a harness layer; its name for `EnvironmentSpec.image`.

    Raises:
        UserError: there is no such environment or layer, or a recipe is broken.
        EngineError: a step failed.
    """
    name = layered(environment, harness)
    images.build(name, progress)
    return name
