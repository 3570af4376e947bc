"""The files of a run for nodes that do not see the driver's disk.

What lies below the driver's working directory travels as one copy, kept on the node by its
hash; so do the asset trees, wherever they lie. Anything else that a run names must lie at the
same place on every node. Either way the node compares the hashes of what shapes the results.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.engine import cache_dir
from uniclaw.errors import InfraError, StoreError, UserError
from uniclaw.runner.inputs import differences, inputs, scripts
from uniclaw.runner.ray_parcel import Refused, ShopOrder, pack, unpack
from uniclaw.runner.seats import Workshop
from uniclaw.runner.start import Prepared, prepare, versions
from uniclaw.yamlio import read_yaml

TREES = ("roles", "firewall", "environments")
"""Of an asset tree; of its suites and rubrics only those of the run travel."""
MAX_BYTES = 1_000_000_000
HERE, TREE = "here", "tree"
SHOWN = 5


def shaping(workshop: Workshop) -> str:
    """Everything that shapes the results, as one text that driver and node compare."""
    found = inputs(workshop.settings, workshop.suite, workshop.assets)
    return json.dumps({"inputs": found, "versions": {**versions()}}, sort_keys=True)


def copy_of(workshop: Workshop, directory: Path) -> bytes:
    """The run's files as a tar: `here/...` below the directory, `tree/N/...` of asset tree N.

    Args:
        workshop: of the run.
        directory: the driver's working directory.

    Raises:
        UserError: they are too large to travel.
    """
    roots = [root for root in workshop.assets.roots if root != directory]
    below = [p for p in _places(workshop) if p.exists() and p.is_relative_to(directory)]
    size = sum(f.stat().st_size for p in below for f in [p, *p.rglob("*")] if f.is_file())
    if size > MAX_BYTES:
        raise UserError(
            f"{size} bytes are too many to copy to nodes; use a directory that all nodes see",
            field="suite",
            value=workshop.settings.suite,
        )
    parts = [pack(directory, below)]
    trees = (*TREES, f"rubrics/{workshop.suite.format}")
    parts += [pack(root, [root / name for name in trees]) for root in roots]
    return json.dumps([len(part) for part in parts]).encode() + b"\n" + b"".join(parts)


def _places(workshop: Workshop) -> Iterator[Path]:
    """Where the files of a run lie."""
    settings, suite = workshop.settings, workshop.suite
    yield suite.root
    description = suite.root / "suite.yaml"
    if suite.format == "native" and description.is_file():
        data = read_yaml(description)
        rubrics = data.get("rubrics") if isinstance(data, dict) else None
        if isinstance(rubrics, str):
            yield (suite.root / rubrics).resolve()
    for root in workshop.assets.roots:
        yield from (root / name for name in (*TREES, f"rubrics/{suite.format}"))
    given = [settings.solutions, settings.prices, *map(Path, scripts(settings))]
    given += [Path(text) for skills in settings.axes.skills for text in skills]
    yield from (path.resolve() for path in given if path is not None)


class Shop(NamedTuple):
    """A run as a node loaded it."""

    prepared: Prepared
    directory: Path
    """To work in: relative paths of the settings start there."""


def load(order: ShopOrder, copy: bytes | None) -> Shop | Refused:
    """Load a run on a node: from the driver's own places if they are here, else from the copy.

    Args:
        order: what the driver loaded.
        copy: of the driver's files, if it was sent.
    """
    here = Path(order.directory)
    try:
        found: Shop | Refused = Refused(f"{here} is not on this node", missing_files=True)
        if here.is_dir():
            found = _load_at(order, here, tuple(Path(r) for r in order.roots))
        if isinstance(found, Refused) and copy is not None:
            place, trees = _unpacked(copy)
            found = _load_at(order, place, (*trees, *default_roots(None, environ={}, cwd=place)))
    except (InfraError, OSError) as error:
        return Refused(f"{type(error).__name__}: {error}")
    return found


def _load_at(order: ShopOrder, directory: Path, roots: tuple[Path, ...]) -> Shop | Refused:
    os.chdir(directory)
    try:
        prepared = prepare(
            order.run,
            order.settings,
            assets=Assets(tuple(dict.fromkeys(r for r in roots if r.is_dir()))),
            environ=os.environ,
            notify=lambda _: None,
            salt=order.salt,
            build=False,
        )
        found = differences(json.loads(order.shaping), json.loads(shaping(prepared.workshop)))
    except UserError as error:
        return Refused(str(error), missing_files=True)
    if found:
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        said = "; ".join(found[:SHOWN])
        return Refused(f"other files or versions than the driver's: {said}{more}", True)
    return Shop(prepared, directory)


def _unpacked(copy: bytes) -> tuple[Path, list[Path]]:
    """The copy on this node's disk, written once: its working directory, its asset trees."""
    base = cache_dir() / "nodes" / hashlib.sha256(copy).hexdigest()[:24]
    head, _, rest = copy.partition(b"\n")
    sizes = [int(size) for size in json.loads(head)]
    if not base.is_dir():
        new = base.with_name(f".new-{secrets.token_hex(6)}")
        offset = 0
        for number, size in enumerate(sizes):
            name = HERE if number == 0 else f"{TREE}/{number}"
            unpack(rest[offset : offset + size], new / name)
            offset += size
        try:
            new.rename(base)
        except OSError as error:
            # Another process of this node was faster.
            shutil.rmtree(new, ignore_errors=True)
            if not base.is_dir():
                raise StoreError(f"cannot write {base}: {error}") from error
    return base / HERE, [base / TREE / str(n) for n in range(1, len(sizes))]


def tags(images: Mapping[str, str]) -> dict[str, str]:
    """Image tags without content ids, which differ by engine: a tag is the recipe's hash."""
    return {name: text.partition(" ")[0] for name, text in images.items()}
