"""Where agents act: the Docker and the process adapter behind one port, and their images.

Nothing here knows the hidden side. Heavy imports happen in the functions.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from uniclaw.assets import Assets
from uniclaw.ports import EnvironmentFactory

EnvironmentKind = Literal["docker", "process"]


def create_factory(
    kind: EnvironmentKind, *, assets: Assets, run: str, scratch: Path | None = None
) -> EnvironmentFactory:
    """The factory of one adapter.

    Args:
        kind: `docker`, or `process` (no security boundary, see `environments.process`).
        assets: Where the image recipes are found.
        run: Name of the run, for labels.
        scratch: Where the process adapter makes its directories; the system's default if None.

    Raises:
        EngineError: `docker`, and no engine answers.
    """
    if kind == "docker":
        from uniclaw.environments.docker import DockerFactory
        from uniclaw.environments.images import Images

        return DockerFactory(Images(assets), run=run)
    from uniclaw.environments.process import ProcessFactory

    return ProcessFactory(run=run, scratch=scratch)


def ensure_images(
    names: Iterable[str], assets: Assets, progress: Callable[[str], None]
) -> dict[str, str]:
    """Build what is missing; the content digest of each image by name.

    Raises:
        UserError: a recipe is missing or broken.
        EngineError: a build failed.
    """
    from uniclaw.environments.images import Images

    images = Images(assets)
    digests: dict[str, str] = {}
    for name in sorted(set(names)):
        images.build(name, progress)
        digests[name] = images.digest(name) or ""
    return digests
