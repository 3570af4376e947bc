"""Recipes are read whole or refused with file, field and value; their hash is their address."""

from pathlib import Path

import pytest

from uniclaw.assets import Assets
from uniclaw.environments.images import Images
from uniclaw.environments.recipe import load_recipe, parse_dockerfile
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import UserError

HEAD = "from: base\ndescription: x\n"
DOCKERFILE = "ARG BASE\nFROM ${BASE}\n"


def _recipe(tmp_path: Path, head: str = HEAD, dockerfile: str = DOCKERFILE) -> Path:
    directory = tmp_path / "environments" / "mine"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "recipe.yaml").write_text(head, encoding="utf-8")
    (directory / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    return directory


def test_the_dialect_is_read(tmp_path: Path) -> None:
    text = (
        '# comment\nARG BASE\nFROM ${BASE}\n\nENV A=1 B="two words"\n'
        'RUN echo a \\\n    # inside\n && echo b\nRUN ["/bin/true", "x y"]\n'
        "COPY --chown=1000:1000 files/ /opt/files/\nWORKDIR /opt\nUSER 1000\n"
    )
    steps = list(parse_dockerfile(text, tmp_path))
    assert [s.word for s in steps] == [
        "ARG", "FROM", "ENV", "RUN", "RUN", "COPY", "WORKDIR", "USER",
    ]  # fmt: skip
    assert steps[2].arguments == ("A=1", "B=two words")
    assert steps[3].arguments[:2] == ("/bin/sh", "-c")
    assert "echo a" in steps[3].arguments[2]
    assert "echo b" in steps[3].arguments[2]
    assert steps[4].arguments == ("/bin/true", "x y")
    assert steps[5].owner == "1000:1000"


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ADD x /y", "recipes know"),
        ("RUN", "nothing follows"),
        ("COPY ../x /y", "inside the recipe"),
        ("COPY /etc/passwd /y", "inside the recipe"),
        ("COPY --from=other x /y", "COPY knows"),
        ("COPY x", "a source and a target"),
        ("ENV A B", "KEY=VALUE"),
        ("FROM debian", "one `FROM"),
        ("WORKDIR a b", "takes one argument"),
        ("ENV A='", "No closing quotation"),
    ],
)
def test_what_is_outside_the_dialect_is_refused(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(UserError, match=said) as caught:
        list(parse_dockerfile(f"{DOCKERFILE}{line}\n", tmp_path / "Dockerfile"))
    assert "Dockerfile" in str(caught.value)
    assert "line 3" in str(caught.value)


@pytest.mark.parametrize(
    ("head", "field"),
    [
        ("description: x\n", "from"),
        (f"{HEAD}unknown: 1\n", "unknown"),
        (f"{HEAD}self_test: yes\n", "self_test"),
        ("from: ../x\ndescription: x\n", "environment"),
        ("from: [\n", "not YAML"),
    ],
)
def test_a_broken_recipe_names_its_field(tmp_path: Path, head: str, field: str) -> None:
    with pytest.raises(UserError, match=field):
        load_recipe("mine", _recipe(tmp_path, head=head))


def test_fault_19_names_that_leave_their_place_are_refused(tmp_path: Path) -> None:
    directory = _recipe(tmp_path)
    for name in ("../mine", "a/b", "C:\\x", "A", "x\0", "n" * 300, "", "bootstrap"):
        with pytest.raises(UserError):
            load_recipe(name, directory)


def test_a_directory_without_a_dockerfile_is_refused(tmp_path: Path) -> None:
    directory = _recipe(tmp_path)
    (directory / "Dockerfile").unlink()
    with pytest.raises(UserError, match="missing"):
        load_recipe("mine", directory)
    (directory / "recipe.yaml").unlink()
    with pytest.raises(UserError, match="missing"):
        load_recipe("mine", directory)


@pytest.mark.docker
def test_the_address_follows_files_and_parents(
    tmp_path: Path, assets: Assets, docker_api: DockerApi
) -> None:
    directory = _recipe(tmp_path)
    both = Assets((tmp_path, *assets.roots))
    first = Images(both, docker_api).resolve("mine")
    assert Images(both, docker_api).resolve("mine") == first
    assert first.tag.startswith("uniclaw/mine:")
    assert len(first.hash) == 12
    (directory / "extra").write_text("x", encoding="utf-8")
    second = Images(both, docker_api).resolve("mine")
    assert second.hash != first.hash
    parent = tmp_path / "environments" / "base"
    parent.mkdir()
    (parent / "recipe.yaml").write_text("from: bootstrap\ndescription: x\n", encoding="utf-8")
    (parent / "Dockerfile").write_text(DOCKERFILE, encoding="utf-8")
    assert Images(both, docker_api).resolve("mine").hash != second.hash
    assert not Images(both, docker_api).is_built("mine")


@pytest.mark.docker
def test_recipes_in_a_circle_are_refused(tmp_path: Path, docker_api: DockerApi) -> None:
    _recipe(tmp_path, head="from: mine\ndescription: x\n")
    with pytest.raises(UserError, match="circle"):
        Images(Assets((tmp_path,)), docker_api).resolve("mine")
