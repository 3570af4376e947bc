"""Harness layers: found, stacked and named by what they hold."""

from pathlib import Path

import pytest

from uniclaw.assets import Assets, default_roots
from uniclaw.environments.images import Images
from uniclaw.environments.layers import build_layer, layer_chain, layer_names, layered, split
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import UserError
from uniclaw.harnesses import HARNESSES, harness_names

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = "ARG BASE\nFROM ${BASE}\nRUN touch /made-{name}\n"


def layer(root: Path, name: str, parent: str) -> None:
    folder = root / "environments" / "harness" / name
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(f"from: {parent}\ndescription: d\n", encoding="utf-8")
    text = DOCKERFILE.replace("{name}", name)
    (folder / "Dockerfile").write_text(text, encoding="utf-8")


def test_names_of_images_with_a_layer() -> None:
    assert layered("base", "codex") == "base+codex"
    assert split("base+codex") == ("base", "codex")
    assert split("base") == ("base", None)
    with pytest.raises(UserError, match="lower-case"):
        layered("base", "../evil")


def test_a_layer_stands_on_the_layers_it_needs(tmp_path: Path) -> None:
    layer(tmp_path, "runtime", "environment")
    layer(tmp_path, "agent", "runtime")
    assets = Assets((tmp_path,))
    assert layer_names(assets) == ("agent", "runtime")
    chain = layer_chain("office", "agent", assets)
    assert [recipe.name for recipe in chain] == ["office+runtime", "office+agent"]
    assert "environments/harness/agent" in assets.used


def test_a_circle_and_an_unknown_layer_are_refused(tmp_path: Path) -> None:
    layer(tmp_path, "a", "b")
    layer(tmp_path, "b", "a")
    assets = Assets((tmp_path,))
    with pytest.raises(UserError, match="circle"):
        layer_chain("base", "a", assets)
    with pytest.raises(UserError, match="known are a, b"):
        layer_chain("base", "c", assets)


def test_every_harness_that_runs_inside_has_a_layer() -> None:
    assets = Assets(default_roots(None, environ={}, cwd=REPOSITORY))
    for kind in HARNESSES.values():
        if kind.layer is not None:
            assert layer_chain("base", kind.layer, assets)
    assert {"genericagent", "opensquilla"} <= set(harness_names(assets))


@pytest.mark.docker
def test_a_tag_follows_from_environment_and_layer(
    docker_api: DockerApi, assets: Assets, tmp_path: Path
) -> None:
    layer(tmp_path, "probe", "environment")
    own = Assets((tmp_path, *assets.roots))
    images = Images(own, docker_api)
    first = images.resolve("base+probe")
    assert first.repository == "uniclaw/base.probe"
    assert images.resolve("office+probe").hash != first.hash
    try:
        assert build_layer(images, "base", "probe", lambda line: None) == "base+probe"
        assert images.is_built("base+probe")
    finally:
        docker_api.remove_image(first.tag, force=True)
    (tmp_path / "environments/harness/probe/Dockerfile").write_text(
        DOCKERFILE.replace("{name}", "other"), encoding="utf-8"
    )
    assert Images(own, docker_api).resolve("base+probe").hash != first.hash
