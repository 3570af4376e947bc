"""A task's services: which program each name stands for, and whether its description holds.

A name resolves to the task's own program where `services/<name>/service.yaml` is there, else to
a shipped one under `environments/services/<name>/`; whatever else lies in the task's
`services/<name>/` is seed. A service with a `start` command and `oneshot` is an installer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from uniclaw.assets import Assets
from uniclaw.errors import UserError
from uniclaw.ports import ServiceSpec
from uniclaw.records import NonNegative, Record, Service
from uniclaw.suites.files import (
    check_id,
    check_relative,
    refuse_unsafe,
    scan_tree,
    subdirectories,
)
from uniclaw.yamlio import parse_record, read_yaml

SHIPPED = "environments/services"
FILE = "service.yaml"
PROGRAM = "program"
PROGRAM_DIR = "/service/program"
SEED_DIR = "/service/seed"
FIRST_PORT, LAST_PORT = 1024, 65535
TAKEN_PORTS = frozenset({8377, 8378})
"""Of the ways to the model and out, in the same namespace."""


class Ready(Record):
    """How to see that a service answers."""

    path: str = "/health"
    timeout_s: NonNegative = Field(default=20.0, gt=0, le=300)


class ServiceFile(Record):
    """Contents of `service.yaml`."""

    description: str = Field(min_length=1)
    image: str = "base"
    command: tuple[str, ...] = Field(min_length=1)
    port: int = Field(ge=FIRST_PORT, le=LAST_PORT)
    ready: Ready = Ready()
    env: Mapping[str, str] = {}
    include: tuple[str, ...] = ()
    """Directories beside this one whose files the program has beside its own."""


@dataclass(frozen=True, kw_only=True)
class TaskServices:
    """What a task's services amount to."""

    directories: dict[str, Path] = field(default_factory=dict[str, Path])
    """Service name -> directory of the task, where it has one."""
    sidecars: tuple[ServiceSpec, ...] = ()


def read_services(
    root: Path, declared: Sequence[Service], *, assets: Assets, file: Path
) -> TaskServices:
    """Resolve the services of a native task.

    Args:
        root: the task's `services/` directory, there or not.
        declared: as the task file lists them, with unique names.
        assets: where shipped services are.
        file: the task file, for messages.

    Raises:
        UserError: an unknown service, a broken `service.yaml`, an unsafe tree, a path that
            leaves its directory, or a port that is taken.
    """
    refuse_unsafe(scan_tree(root), root)
    directories: dict[str, Path] = {}
    sidecars: list[ServiceSpec] = []
    ports: dict[int, str] = {}
    for index, service in enumerate(declared):
        place = f"services[{index}]"
        check_id(service.name, file=file, field=f"{place}.name")
        path = check_relative(service.path or service.name, file=file, field=f"{place}.path")
        directory = root / path
        if directory.is_dir():
            directories[service.name] = directory
        if service.oneshot or service.start.strip():
            _check_installer(service, directory, file=file, place=place)
            continue
        spec = _background(service.name, directory, assets, file=file, place=place)
        if spec.port in ports:
            raise UserError(
                f"has the port {spec.port} of {ports[spec.port]!r}",
                file=file,
                field=place,
                value=service.name,
            )
        if spec.port is not None:
            ports[spec.port] = service.name
        sidecars.append(spec)
    return TaskServices(directories=directories, sidecars=tuple(sidecars))


def _check_installer(service: Service, directory: Path, *, file: Path, place: str) -> None:
    if not service.start.strip():
        raise UserError("expected a shell command", file=file, field=f"{place}.start")
    if not directory.is_dir():
        raise UserError(
            "no such directory under services/",
            file=file,
            field=f"{place}.path",
            value=service.path or service.name,
        )
    if not service.oneshot:
        raise UserError(
            "a background service says its command in service.yaml; `start` is for `oneshot: true`",
            file=file,
            field=f"{place}.start",
            value=service.start,
        )


def _background(
    name: str, directory: Path, assets: Assets, *, file: Path, place: str
) -> ServiceSpec:
    if (directory / FILE).is_file():
        return service_spec(name, program_home=directory, seed=directory, assets=assets)
    home = f"{SHIPPED}/{name}"
    if not assets.exists(f"{home}/{FILE}"):
        known = ", ".join(shipped(assets)) or "none"
        raise UserError(
            f"unknown service: no services/{name}/{FILE} in the task, and shipped are {known}",
            file=file,
            field=f"{place}.name",
            value=name,
        )
    found = assets.find(f"{home}/{FILE}").parent
    return service_spec(name, program_home=found, seed=directory, assets=assets)


def shipped(assets: Assets) -> tuple[str, ...]:
    """Names of the services that come with the asset trees."""
    names = {
        name
        for root in assets.roots
        for name in subdirectories(root / SHIPPED)
        if (root / SHIPPED / name / FILE).is_file()
    }
    return tuple(sorted(names))


def service_spec(
    name: str, *, program_home: Path, seed: Path, assets: Assets | None = None
) -> ServiceSpec:
    """Read a service's description and list what it is given.

    Args:
        name: of the service.
        program_home: directory with `service.yaml` and `program/`.
        seed: directory of the task's seed files, there or not; may be the same.
        assets: where what it includes is found, when it is not beside it.

    Raises:
        UserError: a key is missing, unknown or of a wrong kind; no program; unsafe files.
    """
    described = program_home / FILE
    parsed = _described(described)
    program = program_home / PROGRAM
    refuse_unsafe(scan_tree(program_home), program_home)
    if not scan_tree(program).files:
        raise UserError("no program: expected files here", file=program)
    files = {PROGRAM_DIR: program}
    for index, part in enumerate(parsed.include):
        place = _included(part, program_home, assets, file=described, field=f"include[{index}]")
        files |= _beside_program(place, program, files, file=described, field=f"include[{index}]")
    if seed.is_dir():
        inside = scan_tree(seed)
        refuse_unsafe(inside, seed)
        files |= {
            f"{SEED_DIR}/{relative}": path
            for relative, path in inside.files.items()
            if relative != FILE and not relative.startswith(f"{PROGRAM}/")
        }
    return ServiceSpec(
        name=name,
        image=parsed.image,
        command=parsed.command,
        port=parsed.port,
        ready_path=parsed.ready.path,
        ready_timeout_s=parsed.ready.timeout_s,
        env=parsed.env,
        files=files,
    )


def _described(file: Path) -> ServiceFile:
    parsed = parse_record(ServiceFile, read_yaml(file), file=file)
    check_id(parsed.image, file=file, field="image")
    if parsed.port in TAKEN_PORTS:
        raise UserError("is taken", file=file, field="port", value=parsed.port)
    if not parsed.ready.path.startswith("/"):
        raise UserError(
            "expected a path of its server, from `/`",
            file=file,
            field="ready.path",
            value=parsed.ready.path,
        )
    for index, word in enumerate(parsed.command):
        if "\0" in word or ".." in Path(word).parts:
            raise UserError(
                "expected a word without `..`", file=file, field=f"command[{index}]", value=word
            )
    return parsed


def _beside_program(
    place: Path, program: Path, taken: Mapping[str, Path], *, file: Path, field: str
) -> dict[str, Path]:
    """Inside path -> host file of an included directory."""
    found: dict[str, Path] = {}
    for relative, path in scan_tree(place).files.items():
        inside = f"{PROGRAM_DIR}/{relative}"
        if (program / relative).exists() or inside in taken:
            raise UserError(f"{place.name}/{relative} is there already", file=file, field=field)
        if "__pycache__" not in Path(relative).parts:
            found[inside] = path
    return found


def _included(name: str, home: Path, assets: Assets | None, *, file: Path, field: str) -> Path:
    check_id(name, file=file, field=field)
    place = home.parent / name
    if not place.is_dir() and assets is not None and assets.exists(f"{SHIPPED}/{name}"):
        place = assets.find(f"{SHIPPED}/{name}")
    tree = scan_tree(place)
    refuse_unsafe(tree, place)
    if not tree.files:
        raise UserError("no such directory, or no files in it", file=file, field=field, value=name)
    return place
