"""Content-addressed images of the recipes under `environments/`.

A tag is the hash of the recipe's files, its parent's tag and the builder's version, so an
image that exists is the right one. A build runs the recipe's steps in one container of the
parent and commits it: host settings are mounted in memory and never committed.
"""

import fcntl
import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

from docker.errors import DockerException, ImageNotFound
from requests.exceptions import RequestException

from uniclaw.assets import Assets
from uniclaw.environments.bootstrap import BOOTSTRAP_VERSION, Progress, import_bare
from uniclaw.environments.build import build_image, run_self_test
from uniclaw.environments.engine import cache_dir, connect
from uniclaw.environments.host_settings import DEBIAN_SUITE
from uniclaw.environments.layers import layer_chain, split
from uniclaw.environments.recipe import BOOTSTRAP, Recipe, check_name, load_recipe
from uniclaw.environments.session import StageParts
from uniclaw.environments.wire import DockerApi, mapping_of
from uniclaw.errors import EngineError, UserError

BUILDER_VERSION = "1"
"""Part of every image's hash; raise it when a build of the same recipe would differ."""

_HASH_DIGITS = 12
_MAX_DEPTH = 16


class ImageRef(NamedTuple):
    """A recipe's image: what it is called in the engine."""

    name: str
    repository: str
    hash: str

    @property
    def tag(self) -> str:
        """`uniclaw/<name>:<hash>`."""
        return f"{self.repository}:{self.hash}"


def _silent(_: str) -> None:
    pass


@dataclass
class Images:
    """The images of one asset tree in one engine."""

    assets: Assets
    api: DockerApi = field(default_factory=connect)
    _chains: dict[str, tuple[Recipe, ...]] = field(default_factory=dict[str, tuple[Recipe, ...]])

    def names(self) -> tuple[str, ...]:
        """All recipes of the asset tree."""
        found: set[str] = set()
        for root in self.assets.roots:
            found |= {p.parent.name for p in (root / "environments").glob("*/recipe.yaml")}
        return tuple(sorted(found))

    def recipe(self, name: str) -> Recipe:
        """One recipe, read once."""
        return self._chain(name)[-1]

    def resolve(self, name: str) -> ImageRef:
        """The image that a recipe stands for, whether built or not.

        Raises:
            UserError: there is no such recipe, or it is broken.
        """
        reference = _bare()
        for recipe in self._chain(name):
            digest = hashlib.sha256(
                f"{BUILDER_VERSION}\0{reference.tag}\0{recipe.sha256}".encode()
            ).hexdigest()
            repository = f"uniclaw/{recipe.name}".replace("+", ".")
            reference = ImageRef(recipe.name, repository, digest[:_HASH_DIGITS])
        return reference

    def is_built(self, name: str) -> bool:
        """Whether the engine has it."""
        return self.digest(name) is not None

    def digest(self, name: str) -> str | None:
        """The image's id in the engine (a hash of its content); None when it is not built."""
        return self._id(self.resolve(name).tag)

    def size_bytes(self, name: str) -> int | None:
        """Size with all parents; None when it is not built."""
        try:
            size = self.api.inspect_image(self.resolve(name).tag).get("Size")
        except ImageNotFound:
            return None
        return size if isinstance(size, int) else None

    def build(self, name: str, progress: Progress = _silent) -> ImageRef:
        """Build a recipe and what it stands on, unless they exist; several builders may try.

        Raises:
            UserError: the recipe is broken.
            EngineError: a step failed; the message holds the end of its output.
        """
        parent = _bare()
        chain = self._chain(name)
        if self.is_built(name):
            return self.resolve(name)
        with _one_builder(parent, progress):
            if self._id(parent.tag) is None:
                import_bare(self.api, parent.repository, parent.hash, progress)
        for recipe in chain:
            reference = self.resolve(recipe.name)
            with _one_builder(reference, progress):
                if self._id(reference.tag) is None:
                    progress(f"building {reference.tag}")
                    build_image(self.api, recipe, parent.tag, reference, progress)
            parent = reference
        return parent

    def self_test(self, name: str) -> Sequence[str]:
        """Run the recipe's self-test in a fresh container without network.

        Returns:
            One line per failed command; empty when all succeeded.
        """
        return run_self_test(
            self.api, self.resolve(name).tag, self.recipe(name).self_test, self.stage(name).session
        )

    def stage(self, name: str) -> StageParts:
        """Session and recorder of a recipe, its own or those of what it stands on."""
        chain = self._chain(name)[::-1]
        return StageParts(
            next((r.session for r in chain if r.session is not None), None),
            next((r.recording for r in chain if r.recording is not None), None),
        )

    def _id(self, tag: str) -> str | None:
        try:
            found = self.api.inspect_image(tag).get("Id")
        except ImageNotFound:
            return None
        except (DockerException, RequestException) as error:
            raise EngineError(f"cannot look up image {tag}: {error}") from error
        return found if isinstance(found, str) else None

    def _chain(self, name: str) -> tuple[Recipe, ...]:
        """The recipe and what it stands on, lowest first."""
        known = self._chains.get(name)
        if known is not None:
            return known
        environment, layer = split(name)
        if layer is not None:
            layers = layer_chain(environment, layer, self.assets)
            return self._chains.setdefault(name, (*self._chain(environment), *layers))
        chain: list[Recipe] = []
        current = name
        while current != BOOTSTRAP:
            if len(chain) > _MAX_DEPTH or any(r.name == current for r in chain):
                raise UserError(
                    "recipes stand on each other in a circle", field="from", value=current
                )
            directory = self.assets.find(f"environments/{check_name(current)}")
            recipe = load_recipe(current, directory)
            self.assets.used[f"environments/{current}"] = recipe.sha256
            chain.append(recipe)
            current = recipe.parent
        return self._chains.setdefault(name, tuple(reversed(chain)))


def _bare() -> ImageRef:
    digest = hashlib.sha256(f"{DEBIAN_SUITE}\0{BOOTSTRAP_VERSION}".encode()).hexdigest()
    return ImageRef(BOOTSTRAP, f"uniclaw/{BOOTSTRAP}", digest[:_HASH_DIGITS])


@contextmanager
def _one_builder(
    reference: ImageRef, progress: Callable[[str], None]
) -> Generator[None, None, None]:
    """Hold the lock file of an image, so that two builders do not do the same work."""
    locks = cache_dir() / "locks"
    locks.mkdir(exist_ok=True)
    with (locks / f"{reference.name}-{reference.hash}.lock").open("w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            progress(f"waiting for another builder of {reference.tag}")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def disk_of(api: DockerApi) -> str | None:
    """The engine's data directory, for space checks; None where it is not on this machine."""
    root = mapping_of(dict(api.info())).get("DockerRootDir")
    return root if isinstance(root, str) else None
