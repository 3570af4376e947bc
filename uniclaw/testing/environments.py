"""Conformance of environment adapters: what every one must do, as checks on a factory.

Run all of `CHECKS` against your factory, each in a test of its own:

    @pytest.mark.parametrize("check", CHECKS, ids=lambda c: c.__name__)
    async def test_conformance(check, factory):
        await check(factory)

A check closes what it starts. It needs `sh`, coreutils, `find` and `setsid` inside.
"""

import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from uniclaw.errors import EnvironmentLost, UniclawError, UserError
from uniclaw.ports import Environment, EnvironmentFactory, FreezeLimits
from uniclaw.records import Manifest
from uniclaw.testing import environment_commands, environment_timeouts
from uniclaw.testing.environment_basis import (
    LIMITS,
    RESULTS,
    SPEC,
    Check,
    beating,
    beats,
    frozen,
    running,
)


async def check_put_gives_files_to_the_user(factory: EnvironmentFactory) -> None:
    """Parents are made, modes kept, and the environment's user owns and can change all."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        (tree / "sub").mkdir(parents=True)
        (tree / "sub" / "run.sh").write_bytes(b"#!/bin/sh\necho ran\n")
        (tree / "sub" / "run.sh").chmod(0o755)
        (tree / "data \u4e2d\u6587.bin").write_bytes(b"\x00\xff")
        async with running(factory) as env:
            await env.put(
                {
                    "/workspace/sources/deep/er/a.txt": b"a",
                    "/workspace/tree": tree,
                    "/elsewhere/x/y": b"y",
                }
            )
            await env.put({"/workspace/sources/secret": b"s"}, mode=0o600)
            script = (
                "set -e; for f in sources/deep sources/deep/er/a.txt tree/sub/run.sh; do"
                ' test -O "$f"; test -w "$f"; done; echo b >> sources/deep/er/a.txt;'
                " touch sources/deep/new tree/sub/new; ./tree/sub/run.sh;"
                " stat -c %a sources/secret sources/deep/er/a.txt"
            )
            done = await env.exec(script)
            assert (done.exit_code, done.stdout) == (0, b"ran\n600\n644\n"), done
            assert await env.get("/workspace/sources/deep/er/a.txt") == b"ab\n"
            assert await env.get("/workspace/tree/data \u4e2d\u6587.bin") == b"\x00\xff"
            assert await env.get("/elsewhere/x/y") == b"y"
            await env.put({"/workspace/sources/deep/er/a.txt": b"new"})
            assert await env.get("/workspace/sources/deep/er/a.txt") == b"new"


async def check_put_refuses_bad_paths_and_links(factory: EnvironmentFactory) -> None:
    """Relative, `..`, NUL, too long; links in a host tree. Nothing is written."""
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        (tree / "link").symlink_to("/etc/passwd")
        async with running(factory) as env:
            bad = ("x", "../x", "/workspace/../etc/x", "/a\0b", "/" + "n" * 300, "C:\\x", "/\ud800")
            for path in bad:
                await _refused(env, {"/workspace/ok": b"1", path: b"2"}, path)
            await _refused(env, {"/workspace/ok": b"1", "/workspace/t": tree}, "a link")
            assert (await env.exec("ls")).stdout == b"results\nsources\n"


async def _refused(env: Environment, files: Mapping[str, bytes | Path], what: str) -> None:
    try:
        await env.put(files)
    except UserError:
        return
    raise AssertionError(f"put took {what!r}")


async def check_put_does_not_follow_planted_links(factory: EnvironmentFactory) -> None:
    """A directory that the agent replaced by a link gives way."""
    async with running(factory) as env:
        await env.exec("mkdir outside; ln -s ../outside results/deep")
        await env.put({f"{RESULTS}/deep/file": b"in"})
        assert (await env.exec("ls outside")).stdout == b""
        assert await env.get(f"{RESULTS}/deep/file") == b"in"


async def check_get_reads_regular_files_only(factory: EnvironmentFactory) -> None:
    """Not a link, not through a link, no directory, nothing special, nothing too large."""
    async with running(factory) as env:
        await env.exec(
            "printf 12345 > results/f; ln -s f results/link; ln -s results hop; mkfifo results/p"
        )
        assert await env.get(f"{RESULTS}/f", max_bytes=5) == b"12345"
        for path in ("none/at/all", "results/link", "hop/f", "results", "results/p", "results/f/x"):
            try:
                await env.get(f"/workspace/{path}")
            except FileNotFoundError:
                continue
            raise AssertionError(f"get read {path}")
        try:
            await env.get(f"{RESULTS}/f", max_bytes=4)
        except ValueError:
            return
        raise AssertionError("get read more than its limit")


# --- freeze ------------------------------------------------------------------------------


async def check_freeze_copies_regular_files_only(factory: EnvironmentFactory) -> None:
    """Links of all kinds are listed with their targets and never followed."""
    async with running(factory) as env:
        await env.exec(
            "cd results; printf one > f; mkdir d; printf two > d/g; ln f hard;"
            " ln -s /etc/passwd a; ln -s /proc/self hop; ln -s d todir; ln -s nowhere dangling;"
            " mkfifo pipe; : > empty; chmod 755 f"
        )
        with tempfile.TemporaryDirectory() as scratch:
            into = Path(scratch)
            found = await frozen(env, into)
            kinds = {p.removeprefix(RESULTS).lstrip("/"): e.kind for p, e in found.items()}
            assert kinds == {
                "": "dir", "f": "file", "hard": "file", "d": "dir", "d/g": "file",
                "a": "link", "hop": "link", "todir": "link", "dangling": "link",
                "pipe": "other", "empty": "file",
            }  # fmt: skip
            assert found[f"{RESULTS}/a"].target == "/etc/passwd"
            assert found[f"{RESULTS}/hop"].target == "/proc/self"
            assert found[f"{RESULTS}/f"].sha256 == found[f"{RESULTS}/hard"].sha256
            assert found[f"{RESULTS}/f"].mode == 0o755
            host = into / RESULTS.lstrip("/")
            assert (host / "hard").read_bytes() == b"one"
            assert (host / "d" / "g").read_bytes() == b"two"
            on_host = {p.name for p in host.rglob("*")}
            assert on_host == {"f", "hard", "d", "g", "empty"}
            assert not any(p.is_symlink() for p in host.rglob("*"))


async def check_freeze_counts_sparse_files_by_real_size(factory: EnvironmentFactory) -> None:
    """200 GB of holes cost nothing and hide nothing; a modest sparse file is copied."""
    limits = FreezeLimits(max_file_bytes=1_000_000, max_total_bytes=100_000_000)
    async with running(factory) as env:
        await env.exec(
            "cd results; truncate -s 200G huge; truncate -s 20M modest; printf end >> modest;"
            " printf small > small"
        )
        with tempfile.TemporaryDirectory() as scratch:
            found = await frozen(env, Path(scratch), limits=limits)
            huge, modest = found[f"{RESULTS}/huge"], found[f"{RESULTS}/modest"]
            assert huge.size == 200 * 2**30
            assert huge.skipped is not None
            assert modest.skipped is None
            copied = Path(scratch) / f"{RESULTS}/modest".lstrip("/")
            assert copied.stat().st_size == modest.size == 20 * 2**20 + 3
            assert copied.read_bytes().endswith(b"\0end")
            assert found[f"{RESULTS}/small"].sha256 is not None


async def check_freeze_tells_what_changed(factory: EnvironmentFactory) -> None:
    """Added, changed, deleted and same, against the baseline."""
    async with running(factory) as env:
        await env.exec("cd results; for f in same gone edited; do echo $f > $f; done; ln -s a l")
        with tempfile.TemporaryDirectory() as scratch:
            first = await env.freeze([RESULTS], Path(scratch) / "0", LIMITS, baseline=None)
            await env.exec("cd results; rm gone l; echo more >> edited; echo > new; ln -s b l")
            found = await frozen(env, Path(scratch) / "1", baseline=first)
            changes = {Path(p).name: e.change for p, e in found.items()}
            assert changes == {
                "results": "same", "same": "same", "gone": "deleted", "edited": "changed",
                "new": "added", "l": "changed",
            }  # fmt: skip
            assert "gone" not in {Path(e.path).name for e in Manifest(
                entries=tuple(found.values())
            ).files()}  # fmt: skip


async def check_freeze_keeps_to_its_caps(factory: EnvironmentFactory) -> None:
    """Too many, too large, too much together: listed or said, never an error."""
    async with running(factory) as env:
        await env.exec(
            "cd results; for i in 1 2 3 4 5; do head -c 1000 /dev/zero | tr '\\0' $i > f$i; done"
        )
        with tempfile.TemporaryDirectory() as scratch:
            few = FreezeLimits(max_files=3)
            await env.kill_all()
            manifest = await env.freeze([RESULTS], Path(scratch) / "0", few, baseline=None)
            assert manifest.truncated
            assert len(manifest.entries) <= 3
            found = await frozen(env, Path(scratch) / "1", limits=FreezeLimits(max_file_bytes=999))
            assert all(e.skipped for e in found.values() if e.kind == "file")
            together = FreezeLimits(max_total_bytes=2500)
            manifest = await env.freeze([RESULTS], Path(scratch) / "2", together, baseline=None)
            assert manifest.truncated
            assert len(manifest.files()) == 2
            assert len(manifest.entries) == 6


async def check_freeze_refuses_roots_that_are_links(factory: EnvironmentFactory) -> None:
    """At the root itself and on the way to it; a missing root is just empty."""
    async with running(factory) as env:
        await env.exec("mkdir -p real/sub; echo x > real/sub/f; rmdir results; ln -s real results")
        with tempfile.TemporaryDirectory() as scratch:
            await env.kill_all()
            roots = [RESULTS, f"{RESULTS}/sub", "/workspace/none"]
            manifest = await env.freeze(roots, Path(scratch), LIMITS, baseline=None)
            assert [(e.path, e.kind, e.target) for e in manifest.entries] == [
                (RESULTS, "link", "real")
            ]
            assert not [p for p in Path(scratch).rglob("*") if p.is_file()]


async def check_freeze_takes_strange_names(factory: EnvironmentFactory) -> None:
    """Newlines, bytes that are no UTF-8, leading dashes, names of 255 bytes, deep trees."""
    name = "n" * 255
    async with running(factory) as env:
        await env.exec(
            f"cd results; touch -- \"$(printf 'a\\nb')\" \"$(printf 'bad\\377')\" -rf {name};"
            " d=.; for i in $(seq 60); do d=$d/deep; done; mkdir -p $d; echo x > $d/f"
        )
        with tempfile.TemporaryDirectory() as scratch:
            found = await frozen(env, Path(scratch))
            files = {p.removeprefix(f"{RESULTS}/") for p, e in found.items() if e.kind == "file"}
            assert files == {"a\nb", "bad\ufffd", "-rf", name, "/".join(["deep"] * 60) + "/f"}
            assert all(e.skipped is None for e in found.values())


async def check_freeze_of_one_file(factory: EnvironmentFactory) -> None:
    """An artifact root may be a file."""
    async with running(factory) as env:
        await env.exec("printf x > results/one")
        with tempfile.TemporaryDirectory() as scratch:
            found = await frozen(env, Path(scratch), root=f"{RESULTS}/one")
            assert [(e.path, e.kind, e.size) for e in found.values()] == [
                (f"{RESULTS}/one", "file", 1)
            ]


# --- life --------------------------------------------------------------------------------


async def check_kill_all_leaves_the_environment_alive(factory: EnvironmentFactory) -> None:
    """Daemons die; files and later commands are untouched."""
    async with running(factory) as env:
        loop = beating("$0")
        await env.exec(
            f"({beating('one')}) & (env -i /usr/bin/setsid /bin/sh -c '{loop}' two &) ; sleep 0.3"
        )
        await env.kill_all()
        assert not await beats(env, "one")
        assert not await beats(env, "two")
        assert (await env.exec("test -s one && echo there")).stdout == b"there\n"
        await env.kill_all()


async def check_pause_stops_and_unpause_goes_on(factory: EnvironmentFactory) -> None:
    """Nothing runs, `exec` is refused, freeze still works."""
    async with running(factory) as env:
        await env.exec(f"({beating('results/beat')}) >/dev/null 2>&1 & sleep 0.3")
        await env.pause()
        try:
            await env.exec("true", timeout_s=5)
        except UniclawError:
            pass
        else:
            raise AssertionError("a paused environment ran a command")
        first = await env.get(f"{RESULTS}/beat")
        with tempfile.TemporaryDirectory() as scratch:
            manifest = await env.freeze([RESULTS], Path(scratch), LIMITS, baseline=None)
            assert [e.size for e in manifest.files()] == [len(first)]
        await env.pause()
        await env.unpause()
        assert await beats(env, "results/beat")


async def check_snapshot_and_fork(factory: EnvironmentFactory) -> None:
    """A fork has the files, not the processes, and goes its own way."""
    async with running(factory) as env:
        await env.exec(f"({beating('beat')}) >/dev/null 2>&1 & echo before > results/f; sleep 0.2")
        snapshot = await env.snapshot("t.1")
        await env.exec("echo after > results/f")
        fork = await factory.fork(snapshot, SPEC)
        try:
            assert await fork.get(f"{RESULTS}/f") == b"before\n"
            assert not await beats(fork, "beat")
            done = await fork.exec("echo fork > results/f && touch results/new")
            assert done.exit_code == 0
            assert await env.get(f"{RESULTS}/f") == b"after\n"
            assert await beats(env, "beat")
        finally:
            await fork.close()
            await _drop(factory, snapshot)


async def _drop(factory: EnvironmentFactory, snapshot: str) -> None:
    remove = getattr(factory, "remove_snapshot", None)
    if remove is not None:
        await remove(snapshot)


async def check_close_is_final_and_idempotent(factory: EnvironmentFactory) -> None:
    """Closing twice is fine; afterwards everything raises `EnvironmentLost`."""
    env = await factory.start(SPEC)
    await env.exec(f"({beating('beat')}) >/dev/null 2>&1 &")
    await env.close()
    await env.close()
    calls: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: env.exec("true"),
        lambda: env.put({"/workspace/x": b""}),
        lambda: env.get("/workspace/x"),
        lambda: env.freeze([RESULTS], Path(os.devnull), LIMITS, baseline=None),
        env.kill_all,
        env.pause,
        lambda: env.snapshot("t"),
    )
    for call in calls:
        try:
            await call()
        except EnvironmentLost:
            continue
        raise AssertionError("a closed environment took an order")


async def check_resources_are_counters(factory: EnvironmentFactory) -> None:
    """Known names, no negative numbers."""
    async with running(factory) as env:
        found = await env.resources()
        assert set(found) <= {"oom_kills", "memory_bytes", "pids"}
        assert all(value >= 0 for value in found.values())


async def check_environments_are_apart(factory: EnvironmentFactory) -> None:
    """Two of the same spec share nothing, and one's end is not the other's."""
    async with running(factory) as one:
        async with running(factory) as two:
            assert one.name != two.name
            await two.exec("echo x > results/f")
        assert (await one.exec("ls results")).stdout == b""


CHECKS: tuple[Check, ...] = tuple(
    value
    for names in (vars(environment_commands), vars(environment_timeouts), globals())
    for name, value in sorted(names.items())
    if name.startswith("check_")
)
"""Every check of an environment adapter."""
