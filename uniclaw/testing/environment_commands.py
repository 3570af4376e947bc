"""Conformance of environments: commands, their output, and their end."""

from uniclaw.ports import EnvironmentFactory
from uniclaw.testing.environment_basis import RESULTS, SPEC, beating, beats, running


async def check_bytes_go_in_and_out_exactly(factory: EnvironmentFactory) -> None:
    """Every byte value, on both streams, with the exit code."""
    data = bytes(range(256)) * 40
    async with running(factory) as env:
        done = await env.exec("cat; printf 'e\\377\\000r' >&2; exit 7", stdin=data)
        assert done.stdout == data
        assert done.stderr == b"e\xff\x00r"
        assert done.exit_code == 7
        assert not done.truncated
        assert not done.timed_out
        assert done.total_bytes == len(data) + 4
        assert done.duration_s >= 0


async def check_an_argument_list_is_no_shell_line(factory: EnvironmentFactory) -> None:
    """Words of a list arrive as they are."""
    async with running(factory) as env:
        done = await env.exec(["printf", "%s|", "$HOME; a  b", "*", ""])
        assert done.stdout == b"$HOME; a  b|*||"


async def check_large_input_is_fed_while_output_is_read(factory: EnvironmentFactory) -> None:
    """Neither side waits for the other, and unread input does no harm."""
    data = b"0123456789abcde\n" * 400_000
    async with running(factory) as env:
        done = await env.exec("cat", stdin=data, max_bytes=10_000_000)
        assert done.stdout == data
        ignored = await env.exec("exec <&-; echo done", stdin=data)
        assert (ignored.exit_code, ignored.stdout) == (0, b"done\n")


async def check_working_directory_home_and_variables(factory: EnvironmentFactory) -> None:
    """The workspace is the default; variables of the spec and of the call arrive."""
    spec = SPEC.model_copy(update={"env": {"A": "spec", "B": "spec"}})
    async with running(factory, spec) as env:
        script = 'touch here && touch "$HOME/there" && printf "%s %s %s" "$A" "$B" "$LANG"'
        done = await env.exec(script, env={"B": "call"})
        assert done.stdout == b"spec call C.UTF-8"
        assert await env.get("/workspace/here") == b""
        done = await env.exec("pwd", cwd=RESULTS)
        assert done.stdout.decode().strip().endswith(RESULTS)


async def check_what_cannot_start_is_a_failed_command(factory: EnvironmentFactory) -> None:
    """A missing program or directory is the command's failure, not the environment's."""
    async with running(factory) as env:
        done = await env.exec(["no-such-program-here"])
        assert done.exit_code == 127
        assert b"no-such-program-here" in done.stderr
        assert (await env.exec("true", cwd="/workspace/none")).exit_code not in {0, None}
        assert (await env.exec("true")).exit_code == 0


async def check_output_caps_keep_head_and_tail(factory: EnvironmentFactory) -> None:
    """Limit - 1 and limit are whole; limit + 1 says `truncated` and keeps both ends."""
    async with running(factory) as env:
        for size in (999, 1000, 1001):
            script = f"printf A; head -c {size - 2} /dev/zero | tr '\\0' x; printf Z"
            done = await env.exec(script, max_bytes=1000)
            assert done.total_bytes == size
            assert done.truncated == (size > 1000)
            assert len(done.stdout) == min(size, 1000)
            assert done.stdout.startswith(b"Ax")
            assert done.stdout.endswith(b"xZ")
        done = await env.exec("head -c 900 /dev/zero; head -c 900 /dev/zero >&2", max_bytes=1000)
        assert done.truncated
        assert len(done.stdout) + len(done.stderr) == 1000


async def check_a_flood_on_one_line_is_drained(factory: EnvironmentFactory) -> None:
    """100 MB without a newline: bounded memory, counted to the byte, and the command ends."""
    async with running(factory) as env:
        done = await env.exec(
            "head -c 100000000 /dev/zero | tr '\\0' x; printf END", max_bytes=50_000
        )
        assert done.exit_code == 0
        assert done.total_bytes == 100_000_003
        assert done.truncated
        assert len(done.stdout) == 50_000
        assert done.stdout.endswith(b"xEND")


async def check_output_that_is_no_text(factory: EnvironmentFactory) -> None:
    """Bad UTF-8, half a character, NUL and a lone surrogate are bytes like others."""
    data = b"\xff\xfe\xe4\xb8\x00\xed\xa0\x80"
    async with running(factory) as env:
        assert (await env.exec("cat", stdin=data)).stdout == data
        probe = await env.probe("p", "printf '\\377\\376ok'")
        assert (probe.id, probe.exit_code, probe.stdout) == ("p", 0, "\ufffd\ufffdok")


async def check_a_background_child_does_not_hold_the_command(factory: EnvironmentFactory) -> None:
    """A server started with `&` lives on, and the command that started it ends."""
    async with running(factory) as env:
        done = await env.exec(f"({beating('beat')}) & echo started", timeout_s=20)
        assert (done.exit_code, done.stdout, done.timed_out) == (0, b"started\n", False)
        assert done.duration_s < 10
        assert await beats(env, "beat")
