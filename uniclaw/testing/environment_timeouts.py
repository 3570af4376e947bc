"""Conformance of environments: timeouts, cancelling, and what they leave alive."""

import asyncio

from uniclaw.ports import EnvironmentFactory
from uniclaw.testing.environment_basis import (
    beating,
    beats,
    running,
)


async def _dies(factory: EnvironmentFactory, script: str, *names: str) -> None:
    async with running(factory) as env:
        done = await env.exec(script, timeout_s=1.0)
        assert done.timed_out
        assert done.exit_code in {137, None}
        assert done.duration_s < 6
        for name in names:
            assert not await beats(env, name), f"{name} survived"
        assert (await env.exec("echo ok")).stdout == b"ok\n"


async def check_a_timeout_kills_what_ignores_signals(factory: EnvironmentFactory) -> None:
    """TERM, HUP and INT ignored by a shell and its children."""
    ignore = "trap '' TERM HUP INT"
    await _dies(factory, f"{ignore}; ({beating('one')}) & {beating('two')}", "one", "two")


async def check_a_timeout_kills_daemons(factory: EnvironmentFactory) -> None:
    """Double forks, own sessions, and an emptied environment."""
    loop = beating("$0")
    script = (
        f"(setsid sh -c '{loop}' one >/dev/null 2>&1 &);"
        f" (env -i /usr/bin/setsid /bin/sh -c '{loop}' two >/dev/null 2>&1 &); sleep 60"
    )
    await _dies(factory, script, "one", "two")


async def check_a_timeout_kills_what_respawns(factory: EnvironmentFactory) -> None:
    """Processes that replace each other faster than a list is read."""
    chain = 'echo >> one; sleep 0.01; exec setsid sh "$0" & exit'
    script = f"printf '%s\\n' '{chain}' > chain.sh; for i in 1 2 3; do sh chain.sh; done; sleep 60"
    await _dies(factory, script, "one")


async def check_a_timeout_spares_what_ran_before_and_beside(factory: EnvironmentFactory) -> None:
    """Earlier servers and parallel commands are not the timed-out command's."""
    async with running(factory) as env:
        await env.exec(f"({beating('server')}) >/dev/null 2>&1 &")
        beside = asyncio.create_task(env.exec("sleep 2.5; echo whole", timeout_s=30))
        late = await env.exec(f"({beating('late')}) & sleep 60", timeout_s=1.0)
        assert late.timed_out
        assert (await beside).stdout == b"whole\n"
        assert await beats(env, "server")
        assert not await beats(env, "late")


async def check_cancelling_kills_the_command(factory: EnvironmentFactory) -> None:
    """A cancelled call leaves nothing of its command."""
    async with running(factory) as env:
        call = asyncio.create_task(env.exec(beating("beat"), timeout_s=60))
        await asyncio.sleep(1.0)
        call.cancel()
        results = await asyncio.gather(call, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        await asyncio.sleep(1.5)
        assert not await beats(env, "beat")


async def check_a_probe_that_hangs_ends(factory: EnvironmentFactory) -> None:
    """It has no exit code, and what it said is kept."""
    async with running(factory) as env:
        probe = await env.probe("slow", "echo so far; sleep 60", timeout_s=1.0)
        assert probe.exit_code is None
        assert probe.stdout == "so far\n"
