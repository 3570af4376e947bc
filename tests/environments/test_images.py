"""Images are built once, tested without network, and hold nothing of the host."""

import threading
from pathlib import Path, PurePosixPath

import pytest

from uniclaw.assets import Assets
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.docker_freeze import archive_of
from uniclaw.environments.host_settings import ca_bundle, gather
from uniclaw.environments.images import Images
from uniclaw.environments.wire import DockerApi, mapping_of
from uniclaw.errors import EngineError, UserError
from uniclaw.testing.environment_basis import SPEC, running

pytestmark = pytest.mark.docker

_RECIPE = "from: base\ndescription: {}\nself_test:\n  - test -s /opt/made\n  - test -e /none\n"


def _images(tmp_path: Path, assets: Assets, api: DockerApi, dockerfile: str, name: str) -> Images:
    directory = tmp_path / "environments" / name
    directory.mkdir(parents=True)
    (directory / "recipe.yaml").write_text(_RECIPE.format(name), encoding="utf-8")
    (directory / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    (directory / "data").mkdir()
    (directory / "data" / "f").write_text("from the recipe", encoding="utf-8")
    return Images(Assets((tmp_path, *assets.roots)), api)


def test_base_passes_its_self_test(images: Images) -> None:
    assert images.self_test("base") == []
    digest = images.digest("base")
    assert digest is not None
    assert digest.startswith("sha256:")
    assert (images.size_bytes("base") or 0) < 400_000_000


def test_an_image_that_exists_is_not_built_again(images: Images) -> None:
    said: list[str] = []
    assert images.build("base", said.append) == images.resolve("base")
    assert not said


async def test_an_image_holds_nothing_of_the_host(
    images: Images, docker_factory: DockerFactory, docker_api: DockerApi
) -> None:
    """No certificate, proxy, mirror or variable: not in its configuration, not in a file."""
    config = docker_api.inspect_image(images.resolve("base").tag)
    settings = gather()
    variables = mapping_of(config.get("Config")).get("Env")
    assert variables == [
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LANG=C.UTF-8",
    ]
    text = str(config)
    for name in settings.variables:
        assert f"'{name}=" not in text
    async with running(docker_factory) as env:
        done = await env.exec(
            "cat /etc/apt/sources.list /etc/apt/apt.conf.d/* /etc/pip.conf /etc/npmrc;"
            " ls -A /mnt /usr/local/share/ca-certificates /root /var/lib/apt/lists; cat"
            " /etc/hostname /etc/machine-id /etc/resolv.conf; ls /etc/ssl/certs | wc -l",
            user="root",
        )
        seen = done.stdout.decode()
        assert "deb http://deb.debian.org/debian bookworm main" in seen
        assert "Acquire::http" not in seen.replace("Acquire::https::", "")
        bundle = await env.get("/etc/ssl/certs/ca-certificates.crt")
    for own in Path("/usr/local/share/ca-certificates").rglob("*.crt"):
        body = own.read_bytes().split(b"-----")[2].strip().replace(b"\r", b"")
        assert body in ca_bundle(Path("/")).replace(b"\r", b"")
        assert body not in bundle.replace(b"\r", b"")


async def test_a_recipe_is_built_as_written(
    tmp_path: Path, assets: Assets, docker_api: DockerApi, run_label: str
) -> None:
    text = (
        "ARG BASE\nFROM ${BASE}\nENV WHO=me PLACE=/opt/${WHO}\nWORKDIR /opt/here\n"
        "COPY --chown=1000:1000 data /opt/data\nCOPY data/f copied/\n"
        'RUN test "$PLACE" = /opt/me && pwd > /opt/made && env > /opt/env && ls /mnt\nUSER 1000\n'
        "RUN id -u > /tmp/gone && test $(id -u) = 1000\n"
    )
    images = _images(tmp_path, assets, docker_api, text, "mine")
    said: list[str] = []
    reference = images.build("mine", said.append)
    try:
        assert "apt.conf" in said, "the host's settings were there while it was built"
        failures = images.self_test("mine")
        assert len(failures) == 1
        assert "test -e /none" in failures[0]
        factory = DockerFactory(images, run=run_label)
        async with running(factory, SPEC.model_copy(update={"image": "mine"})) as env:
            done = await env.exec(
                "cat /opt/made /opt/here/copied/f; stat -c %u /opt/data/f; ls -A /mnt /tmp;"
                ' echo "$WHO $PLACE"'
            )
            assert done.stdout == b"/opt/here\nfrom the recipe1000\n/mnt:\n\n/tmp:\nme /opt/me\n"
    finally:
        docker_api.remove_image(reference.tag, force=True)


def test_a_step_that_fails_says_so_and_leaves_no_image(
    tmp_path: Path, assets: Assets, docker_api: DockerApi
) -> None:
    text = "ARG BASE\nFROM ${BASE}\nRUN echo what went wrong >&2; exit 3\n"
    images = _images(tmp_path, assets, docker_api, text, "failing")
    with pytest.raises(EngineError, match=r"line 3.*failed with 3: what went wrong"):
        images.build("failing")
    assert not images.is_built("failing")


def test_a_copy_of_nothing_is_the_users_mistake(
    tmp_path: Path, assets: Assets, docker_api: DockerApi
) -> None:
    images = _images(
        tmp_path, assets, docker_api, "ARG BASE\nFROM ${BASE}\nCOPY none /x\n", "copying"
    )
    with pytest.raises(UserError, match="COPY finds nothing"):
        images.build("copying")


def test_two_builders_do_not_collide(tmp_path: Path, assets: Assets, docker_api: DockerApi) -> None:
    text = "ARG BASE\nFROM ${BASE}\nRUN sleep 1; echo x > /opt/made\n"
    images = _images(tmp_path, assets, docker_api, text, "shared")
    said: list[list[str]] = [[], []]
    threads = [threading.Thread(target=images.build, args=("shared", s.append)) for s in said]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        assert sum(any("committing" in line for line in lines) for lines in said) == 1
    finally:
        docker_api.remove_image(images.resolve("shared").tag, force=True)


def test_the_context_of_a_build_is_the_recipe_alone(tmp_path: Path, images: Images) -> None:
    """A link in a recipe could bring anything in: refused."""
    directory = tmp_path / "environments" / "linked"
    directory.mkdir(parents=True)
    (directory / "recipe.yaml").write_text(_RECIPE.format("x"), encoding="utf-8")
    (directory / "Dockerfile").write_text("ARG BASE\nFROM ${BASE}\n", encoding="utf-8")
    (directory / "out").symlink_to("/etc")
    with pytest.raises(UserError, match="links"):
        Images(Assets((tmp_path, *images.assets.roots)), images.api).resolve("linked")


@pytest.mark.slow
def test_office_passes_its_self_test(images: Images) -> None:
    images.build("office")
    assert images.self_test("office") == []


def test_the_bootstrapped_tree_has_no_host_files(docker_api: DockerApi, images: Images) -> None:
    """What lies in the lowest layer is what every image has."""
    container = docker_api.create_container(
        images.resolve("base").tag, ["true"], labels={"uniclaw": "1"}
    )["Id"]
    assert isinstance(container, str)
    try:
        for path in ("/etc/resolv.conf", "/etc/machine-id"):
            with archive_of(docker_api, container, PurePosixPath(path)) as archive:
                member = archive.next() if archive is not None else None
                assert member is None or member.size == 0
    finally:
        docker_api.remove_container(container, force=True)
