"""No trace of a repository's future is left, and what cannot be cleaned is refused."""

import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from claw_swe.build import INSTANCES, SLUG, Instance, archive, build_repository

from uniclaw.environments.process import ProcessFactory
from uniclaw.errors import TaskRefused
from uniclaw.ports import Environment, EnvironmentSpec
from uniclaw.suites.claw_swe_repository import (
    TESTBED,
    Repository,
    prepare_repository,
    prove_history,
)


@pytest.fixture
async def environment(tmp_path: Path) -> AsyncGenerator[Environment]:
    scratch = tmp_path / "environments"
    scratch.mkdir()
    started = await ProcessFactory(run="swe", scratch=scratch).start(
        EnvironmentSpec(image="dev", workspace=TESTBED)
    )
    yield started
    await started.close()


async def git(environment: Environment, *arguments: str) -> str:
    done = await environment.exec(["git", *arguments], cwd=TESTBED)
    return (done.stdout + done.stderr).decode("utf-8", "replace")


def make(instance: Instance, root: Path) -> tuple[Path, dict[str, str]]:
    root.mkdir()
    return root, build_repository(instance, root)


def objects_with_the_fix(root: Path) -> int:
    """Objects of a store, reachable or not, that hold the distinguishing word of the fix."""
    listed = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"],
        cwd=root,
        capture_output=True,
        check=True,
    )
    return listed.stdout.count(b"unicodedata.normalize")


def test_the_made_repository_hides_its_fix_in_every_place(tmp_path: Path) -> None:
    root, made = make(SLUG, tmp_path / "r")

    def said(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, check=True)
        return done.stdout.decode()

    assert made["fix"] in said("rev-list", "main")
    assert "v1.1" in said("tag")
    early = said("log", "-1", "--format=%ct %H", "early").split()
    base = said("log", "-1", "--format=%ct", made["base"]).strip()
    assert int(early[0]) < int(base)
    assert early[1] not in said("rev-list", made["base"])
    assert "stash@{0}" in said("stash", "list")
    dangling = said("fsck", "--no-reflogs", "--lost-found")
    assert "dangling commit" in dangling
    assert "dangling blob" in dangling
    assert objects_with_the_fix(root) >= 2


@pytest.mark.parametrize(
    ("instance", "form"),
    [*((i, "archive") for i in INSTANCES), (SLUG, "directory"), (SLUG, "bundle")],
    ids=lambda v: v if isinstance(v, str) else v.name,
)
async def test_only_the_ancestry_of_the_base_commit_is_left(
    instance: Instance, form: str, environment: Environment, tmp_path: Path
) -> None:
    root, made = make(instance, tmp_path / "r")
    material = root
    if form == "archive":
        material = tmp_path / "r.tar.gz"
        archive(root / ".git", material)
    elif form == "bundle":
        material = tmp_path / "r.bundle"
        command = ["git", "bundle", "create", "-q", str(material), "--all"]
        subprocess.run(command, cwd=root, check=True)
    repository = Repository(base_commit=made["base"], material=material)
    objects = await prepare_repository(environment, repository)
    assert objects > 3
    assert (await git(environment, "log", "--all", "--reflog", "--format=%s")).splitlines() == [
        "Say what it does",
        "Begin",
    ]
    assert "dangling" not in await git(environment, "fsck", "--lost-found", "--no-reflogs")
    assert await git(environment, "stash", "list") == ""
    assert await git(environment, "tag") == ""
    assert await git(environment, "remote") == ""
    assert await git(environment, "status", "--porcelain") == ""
    everything = await git(environment, "cat-file", "--batch-all-objects", "--batch")
    for text in instance.fix.values():
        assert text not in everything
    left = await environment.exec(["ls", "-A", f"..{'/tmp/uniclaw-swe'}"], cwd=TESTBED)
    assert left.exit_code != 0


async def test_keep_leaves_the_whole_history_as_the_ablation_wants_it(
    environment: Environment, tmp_path: Path
) -> None:
    root, made = make(SLUG, tmp_path / "r")
    repository = Repository(base_commit=made["base"], material=root)
    assert await prepare_repository(environment, repository, history="keep") == 0
    assert (await git(environment, "rev-parse", "HEAD")).strip() == made["base"]
    assert await git(environment, "status", "--porcelain") == ""
    assert "Fix it" in await git(environment, "log", "--all", "--format=%s")
    with pytest.raises(TaskRefused, match="history after the base commit is left"):
        await prove_history(environment, made["base"])


LEAKS = {
    "tag": "git tag later $FIX",
    "branch": "git branch later $FIX",
    "side branch dated before": "git branch early2 $EARLY",
    "reflog": "git -c core.logAllRefUpdates=true update-ref -m x refs/heads/main HEAD",
    "dangling blob": "echo fix | git hash-object -w --stdin",
    "stash": "echo x >> README.md; git stash -q",
    "dangling packed": "echo fix2 | git hash-object -w --stdin | git pack-objects -q"
    " .git/objects/pack/pack; git prune-packed -q",
    "annotated tag of the base": "git tag -a -m 'the fix is ...' note HEAD",
    "note": "git notes add -m 'the fix is ...'",
    "nested repository": "mkdir inner; git init -q inner",
    "alternates": "echo /nowhere > .git/objects/info/alternates",
    "fetch head": "echo $FIX > .git/FETCH_HEAD",
    "linked worktree": "mkdir -p .git/worktrees/w",
}


async def test_every_kind_of_leftover_is_found(environment: Environment, tmp_path: Path) -> None:
    root, made = make(SLUG, tmp_path / "r")
    await prepare_repository(environment, Repository(base_commit=made["base"], material=root))
    await environment.put({"/tmp/full": root / ".git"})
    early = subprocess.run(
        ["git", "rev-parse", "early"], cwd=root, capture_output=True, check=True
    ).stdout.decode()
    await environment.exec("cp -a . ../clean", cwd=TESTBED)
    for leak, command in LEAKS.items():
        await environment.exec("find . -mindepth 1 -delete; cp -a ../clean/. .", cwd=TESTBED)
        await prove_history(environment, made["base"])
        script = command.replace("$FIX", made["fix"]).replace("$EARLY", early.strip())
        if script != command:
            script = f"cp -a ../tmp/full/objects/. .git/objects/; {script}"
        done = await environment.exec(script, cwd=TESTBED)
        assert done.exit_code == 0, (leak, done.stderr)
        with pytest.raises(TaskRefused, match="history after the base commit is left"):
            await prove_history(environment, made["base"])


async def test_fault_1_a_base_commit_that_does_not_exist_is_refused(
    environment: Environment, tmp_path: Path
) -> None:
    root, _ = make(SLUG, tmp_path / "r")
    with pytest.raises(TaskRefused, match=r"the base commit 0{40} does not exist"):
        await prepare_repository(environment, Repository(base_commit="0" * 40, material=root))


@pytest.mark.parametrize(("name", "content"), [("a.bundle", b"no"), ("a.tar.gz", b"no")])
async def test_material_that_is_no_repository_is_refused(
    name: str, content: bytes, environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TaskRefused, match="not a readable"):
        await prepare_repository(
            environment, Repository(base_commit="0" * 40, material=tmp_path / name)
        )


async def test_a_repository_that_the_image_holds_is_cleaned_in_place(
    environment: Environment, tmp_path: Path
) -> None:
    root, made = make(SLUG, tmp_path / "r")
    (root / "later.py").write_text("left over\n")
    (root / "__pycache__").mkdir()
    (root / "__pycache__/built.pyc").write_bytes(b"kept: ignored build products stay")
    await environment.put({f"{TESTBED}/{p.name}": p for p in root.iterdir()})
    await prepare_repository(environment, Repository(base_commit=made["base"], material=None))
    listed = (await environment.exec(["ls", "-A"], cwd=TESTBED)).stdout.decode().split()
    assert "later.py" not in listed
    assert "__pycache__" in listed
    assert "normalize" not in (await git(environment, "cat-file", "--batch-all-objects", "--batch"))
