"""Faults that rivals had, by name, on both adapters; the checks are those of the conformance."""

import re
import subprocess
import time
from collections.abc import Generator
from pathlib import Path

import pytest

import uniclaw.environments
from uniclaw.environments.docker import DockerFactory
from uniclaw.environments.process import ProcessFactory
from uniclaw.errors import StoreError
from uniclaw.ports import EnvironmentFactory
from uniclaw.testing import environment_commands, environment_timeouts
from uniclaw.testing import environments as conformance
from uniclaw.testing.environment_basis import LIMITS, RESULTS, running

Either = DockerFactory | ProcessFactory


@pytest.fixture(params=["process", pytest.param("docker", marks=pytest.mark.docker)])
def factory(request: pytest.FixtureRequest) -> EnvironmentFactory:
    found: Either = request.getfixturevalue(f"{request.param}_factory")
    return found


async def test_fault_17_files_that_are_put_belong_to_the_user(factory: EnvironmentFactory) -> None:
    await conformance.check_put_gives_files_to_the_user(factory)


async def test_fault_18_artifacts_never_lead_to_other_files(factory: EnvironmentFactory) -> None:
    await conformance.check_freeze_copies_regular_files_only(factory)
    await conformance.check_freeze_refuses_roots_that_are_links(factory)


async def test_fault_19_no_path_leaves_its_place(factory: EnvironmentFactory) -> None:
    await conformance.check_put_refuses_bad_paths_and_links(factory)
    await conformance.check_put_does_not_follow_planted_links(factory)


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Generator[Path, None, None]:
    """A file system of 64 kB."""
    place = tmp_path / "tiny"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let us mount a small file system")
    yield place
    subprocess.run(["umount", str(place)], check=True)


async def test_fault_21_a_full_disk_is_an_error_and_no_evidence(
    factory: EnvironmentFactory, tiny_disk: Path
) -> None:
    async with running(factory) as env:
        await env.exec("head -c 300000 /dev/urandom > results/f")
        with pytest.raises(StoreError, match="No space left"):
            await env.freeze([RESULTS], tiny_disk / "into", LIMITS, baseline=None)


async def test_fault_22_bad_bytes_do_no_harm(factory: EnvironmentFactory) -> None:
    await environment_commands.check_output_that_is_no_text(factory)
    await conformance.check_freeze_takes_strange_names(factory)


async def test_fault_23_cut_output_says_so(factory: EnvironmentFactory) -> None:
    await environment_commands.check_output_caps_keep_head_and_tail(factory)
    await environment_commands.check_a_flood_on_one_line_is_drained(factory)


async def test_fault_26_durations_do_not_follow_the_wall_clock(
    factory: EnvironmentFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also fault U8."""
    real = time.time
    steps = iter(range(10**6))
    monkeypatch.setattr(time, "time", lambda: real() - 3600 * next(steps))
    async with running(factory) as env:
        done = await env.exec("sleep 0.3")
        assert 0.3 <= done.duration_s < 20
        late = await env.exec("sleep 60", timeout_s=0.5)
        assert late.timed_out
        assert 0.5 <= late.duration_s < 20


def test_fault_U8_no_duration_is_taken_from_the_wall_clock() -> None:
    package = Path(uniclaw.environments.__file__).parent
    for module in package.glob("*.py"):
        assert not re.search(r"\btime\.time\(", module.read_text(encoding="utf-8")), module


async def test_fault_U7_a_timeout_reaches_into_the_environment(factory: EnvironmentFactory) -> None:
    await environment_timeouts.check_a_timeout_kills_what_ignores_signals(factory)
