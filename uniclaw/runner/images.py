"""What `uniclaw env` does: list, build and test the images of an asset tree."""

import time
from collections.abc import Callable, Sequence

from uniclaw.assets import Assets
from uniclaw.environments.images import Images
from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record

Say = Callable[[str], None]


class ImageState(Record):
    """One recipe and its image."""

    name: str
    tag: str
    description: str
    digest: str | None
    """Content id in the engine; None when it is not built."""
    size_bytes: Count | None
    """With all its parents."""
    seconds: NonNegative | None = None
    """How long this call took to have it; None when it was only looked at."""


class SelfTest(Record):
    """Result of one recipe's self-test."""

    name: str
    tag: str
    ok: bool
    failures: tuple[str, ...]


def _state(images: Images, name: str, seconds: float | None = None) -> ImageState:
    return ImageState(
        name=name,
        tag=images.resolve(name).tag,
        description=images.recipe(name).description,
        digest=images.digest(name),
        size_bytes=images.size_bytes(name),
        seconds=seconds,
    )


def describe(assets: Assets) -> tuple[ImageState, ...]:
    """Every recipe, built or not."""
    images = Images(assets)
    return tuple(_state(images, name) for name in images.names())


def build_all(names: Sequence[str], assets: Assets, progress: Say) -> tuple[ImageState, ...]:
    """Build the named recipes, or all of them.

    Raises:
        UserError: no such recipe.
        EngineError: a build step failed.
    """
    images = Images(assets)
    states: list[ImageState] = []
    for name in names or images.names():
        start = time.monotonic()
        images.build(name, progress)
        states.append(_state(images, name, time.monotonic() - start))
    return tuple(states)


def self_test_all(
    names: Sequence[str], assets: Assets, *, everything: bool, progress: Say
) -> tuple[SelfTest, ...]:
    """Run self-tests in fresh containers without network.

    Raises:
        UserError: nothing named, or an image is not built.
    """
    images = Images(assets)
    wanted = [n for n in images.names() if images.is_built(n)] if everything else list(names)
    if not wanted:
        raise UserError("name a recipe, or --all", field="names")
    results: list[SelfTest] = []
    for name in wanted:
        if not images.is_built(name):
            raise UserError(f"not built: uniclaw env build {name}", field="names", value=name)
        progress(f"testing {name}")
        failures = tuple(images.self_test(name))
        results.append(
            SelfTest(name=name, tag=images.resolve(name).tag, ok=not failures, failures=failures)
        )
    return tuple(results)
