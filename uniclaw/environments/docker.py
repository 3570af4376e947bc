"""The Docker adapter: one container an environment, through the official SDK.

Containers have no network, no capabilities, limits on memory, CPU and processes, and an init
that the agent cannot end. Must not know tasks, roles or the hidden side.
"""

import secrets
from collections.abc import Mapping
from pathlib import PurePosixPath

from docker.errors import APIError, DockerException, ImageNotFound
from requests.exceptions import RequestException

from uniclaw.environments import sidecar, snapshots
from uniclaw.environments.build import IDLE
from uniclaw.environments.docker_environment import NEVER_OWNED, DockerEnvironment
from uniclaw.environments.images import Images
from uniclaw.environments.labels import labels_for
from uniclaw.environments.network import (
    HOSTNAME,
    RELAY,
    Namespace,
    close_namespace,
    namespace_of,
    open_namespace,
)
from uniclaw.environments.paths import above, inside_path
from uniclaw.environments.session import NO_STAGE
from uniclaw.environments.threads import in_thread, in_thread_or_undo
from uniclaw.environments.wire import text_of
from uniclaw.errors import EngineError, UserError
from uniclaw.ports import Environment, EnvironmentSpec

_INIT_USER = "65534:65534"
"""Neither the agent's nor root: without capabilities, neither can signal or trace PID 1."""


class DockerFactory:
    """Starts containers of built recipes."""

    def __init__(self, images: Images, *, run: str) -> None:
        self._images = images
        self._api = images.api
        self._run = run
        self._disk_option = True

    async def start(self, spec: EnvironmentSpec) -> Environment:
        """Start a container of the recipe `spec.image`.

        Raises:
            UserError: there is no such recipe, it is not built, or a path is none.
            EngineError: the engine refused.
        """
        return await self._undoable_start(None, spec)

    async def fork(self, snapshot: str, spec: EnvironmentSpec) -> Environment:
        """Start from a snapshot; the same spec gives the same limits and paths."""
        return await self._undoable_start(snapshot, spec)

    async def _undoable_start(self, snapshot: str | None, spec: EnvironmentSpec) -> Environment:
        def start() -> DockerEnvironment:
            return self._start(snapshot or self._recipe_image(spec), spec)

        return await in_thread_or_undo(start, DockerEnvironment.close_now)

    async def remove_snapshot(self, snapshot: str) -> None:
        """Remove a snapshot's image; one that is gone is fine."""
        await in_thread(snapshots.remove, self._api, snapshot)

    def _recipe_image(self, spec: EnvironmentSpec) -> str:
        return self._images.resolve(spec.image).tag

    def _start(self, image: str, spec: EnvironmentSpec) -> DockerEnvironment:
        directories = _directories(spec)
        labels = labels_for(self._run, spec.labels)
        name = f"uniclaw-{secrets.token_hex(8)}"
        namespace = self._namespace(spec, labels)
        joined = namespace if spec.beside is None else namespace_of(self._api, spec.beside)
        try:
            container = self._create_and_start(image, spec, name, labels, joined)
        except BaseException:
            if namespace is not None:
                close_namespace(self._api, namespace)
            raise
        target = sidecar.Target(container, self._recipe_image(spec), labels)
        wanted = self._images.stage(spec.image) if spec.session else NO_STAGE
        environment = DockerEnvironment(
            self._api, name, target, spec, directories, namespace, wanted
        )
        try:
            environment.begin_session()
        except BaseException:
            environment.close_now()
            raise
        return environment

    def _namespace(self, spec: EnvironmentSpec, labels: Mapping[str, str]) -> Namespace | None:
        if spec.door is None:
            return None
        if spec.beside is not None:
            raise UserError("not with a network of its own", field="beside", value=spec.beside)
        relay = self._images.build(RELAY)
        proxy = spec.network == "proxy"
        return open_namespace(self._api, relay.tag, spec.door, labels, proxy=proxy)

    def _create_and_start(
        self,
        image: str,
        spec: EnvironmentSpec,
        name: str,
        labels: Mapping[str, str],
        namespace: Namespace | None,
    ) -> str:
        container = self._create(image, spec, name, labels, namespace)
        try:
            self._api.start(container)
        except (DockerException, RequestException) as error:
            self._api.remove_container(container, force=True, v=True)
            raise EngineError(f"cannot start a container of {image}: {error}") from error
        return container

    def _create(
        self,
        image: str,
        spec: EnvironmentSpec,
        name: str,
        labels: Mapping[str, str],
        namespace: Namespace | None,
    ) -> str:
        try:
            made = self._api.create_container(
                image,
                list(IDLE),
                entrypoint=[],
                user=_INIT_USER,
                # A container that joins a namespace has the hostname of its owner.
                hostname=HOSTNAME if namespace is None else None,
                name=name,
                host_config=self._host_config(spec, namespace),
                labels=labels,
            )
        except ImageNotFound as error:
            raise UserError(
                f"image {image} is not built: run `uniclaw env build {spec.image}`",
                field="environment",
                value=spec.image,
            ) from error
        except APIError as error:
            if self._disk_option and "storage-opt" in str(error.explanation):
                self._disk_option = False
                return self._create(image, spec, name, labels, namespace)
            raise EngineError(f"cannot create a container of {image}: {error}") from error
        except (DockerException, RequestException) as error:
            raise EngineError(f"cannot create a container of {image}: {error}") from error
        return text_of(made.get("Id"))

    def _host_config(
        self, spec: EnvironmentSpec, namespace: Namespace | None
    ) -> Mapping[str, object]:
        limits = spec.limits
        options: dict[str, object] = {
            "network_mode": "none" if namespace is None else namespace.mode,
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "pids_limit": limits.pids,
        }
        if limits.memory_bytes is not None:
            options |= {"mem_limit": limits.memory_bytes, "memswap_limit": limits.memory_bytes}
        if limits.cpus is not None:
            options["nano_cpus"] = int(limits.cpus * 1e9)
        if limits.disk_bytes is not None:
            # The whole layer where the storage driver can; each file at least.
            options["ulimits"] = [
                {"Name": "fsize", "Soft": limits.disk_bytes, "Hard": limits.disk_bytes}
            ]
            if self._disk_option:
                options["storage_opt"] = {"size": str(limits.disk_bytes)}
        if spec.read_only_mounts:
            options["binds"] = [
                f"{host}:{inside_path(inside)}:ro" for inside, host in spec.read_only_mounts.items()
            ]
        return self._api.create_host_config(**options)


def _directories(spec: EnvironmentSpec) -> list[PurePosixPath]:
    """The workspace and what else the user owns, with parents below the workspace."""
    owned = [inside_path(p, field="writable") for p in (spec.workspace, *spec.writable)]
    found: dict[PurePosixPath, None] = {}
    for path in owned:
        below = [p for p in above(path) if owned[0] in p.parents]
        found |= dict.fromkeys(p for p in (*below, path) if p not in NEVER_OWNED)
    return list(found)
