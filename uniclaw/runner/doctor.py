"""What this machine has and lacks for playing episodes."""

import importlib.metadata
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from uniclaw.assets import ASSET_ROOTS, Assets, default_roots
from uniclaw.environments.engine import answering, engine_url
from uniclaw.records import Record
from uniclaw.runner.images import describe

FREE_BYTES = 5_000_000_000
"""Less free disk than this is a warning: images and evidence need room."""


class Finding(Record):
    """One thing looked at."""

    subject: str
    state: Literal["ok", "warning", "missing"]
    detail: str


def examine(
    *, runs_dir: Path, assets: Path | None, environ: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Look at Python, assets, disk, the Docker engine, images and provider keys."""
    found = Assets(default_roots(assets, environ=environ))
    return (
        _python(),
        *_assets(found),
        _disk(runs_dir),
        *_engine(found),
        *_keys(environ),
    )


def _python() -> Finding:
    version = platform.python_version()
    state = "ok" if sys.version_info >= (3, 11) else "missing"
    packages = ", ".join(
        f"{name} {importlib.metadata.version(name)}" for name in ("langgraph", "docker", "pydantic")
    )
    return Finding(subject="python", state=state, detail=f"{version}; {packages}")


def _assets(assets: Assets) -> Iterator[Finding]:
    for name in ASSET_ROOTS:
        places = [str(root / name) for root in assets.roots if (root / name).is_dir()]
        yield Finding(
            subject=f"assets/{name}",
            state="ok" if places else "missing",
            detail=places[0] if places else "found in no asset tree",
        )


def _disk(runs_dir: Path) -> Finding:
    place = runs_dir.resolve()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    return Finding(
        subject="disk",
        state="ok" if free >= FREE_BYTES else "warning",
        detail=f"{free / 1e9:.1f} GB free at {place}",
    )


def _engine(assets: Assets) -> Iterator[Finding]:
    engine = answering()
    if engine is None:
        detail = f"no engine answers at {engine_url()}: make engine, or --environment process"
        yield Finding(subject="docker", state="missing", detail=detail)
        return
    yield Finding(subject="docker", state="ok", detail=f"{engine.version} at {engine.url}")
    for image in describe(assets):
        yield Finding(
            subject=f"image/{image.name}",
            state="ok" if image.size_bytes else "warning",
            detail=image.tag if image.size_bytes else f"not built: uniclaw env build {image.name}",
        )


def _keys(environ: Mapping[str, str]) -> Iterator[Finding]:
    for provider in ("openai", "anthropic"):
        there = bool(environ.get(f"{provider.upper()}_API_KEY"))
        yield Finding(
            subject=provider,
            state="ok" if there else "warning",
            detail="key set" if there else f"no {provider.upper()}_API_KEY; scripted models work",
        )
