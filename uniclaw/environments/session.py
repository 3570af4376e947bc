"""A recipe's session: what must run beside the agent before it begins, such as a display.

Started apart from every later command and probed until it answers. Must not know what runs in it.
"""

from typing import NamedTuple

from docker.errors import DockerException
from requests.exceptions import RequestException

from uniclaw.environments.docker_exec import run_plain
from uniclaw.environments.recipe import Film, Session
from uniclaw.environments.wire import DockerApi
from uniclaw.errors import EngineError


class StageParts(NamedTuple):
    """What a recipe, or the nearest one below it that says so, has beside the agent."""

    session: Session | None = None
    film: Film | None = None


NO_STAGE = StageParts()


class SessionFailed(EngineError):
    """The session does not come up. At the start of an environment nobody's fault but ours."""


LOG = "/tmp/.session.log"

_START = r"""
sh -c "$2" >/dev/null 2>&1 </dev/null && exit 0
umask 077
setsid sh -c "$1" >"$3" 2>&1 </dev/null &
session=$!
until sh -c "$2" >/dev/null 2>&1 </dev/null; do
  kill -0 "$session" 2>/dev/null || { wait "$session"; echo "it ended with $?"; break; }
  sleep 0.02
done
sh -c "$2" >/dev/null 2>&1 </dev/null && exit 0
tail -c 2000 "$3"
exit 1
"""
"""Arguments: the session's command, the question whether it is ready, the log.

A session that is ready already is left alone, so this can be repeated.
"""


def start_session(api: DockerApi, container: str, session: Session, *, user: str) -> None:
    """Return when the session is ready.

    Args:
        api: The engine.
        container: Where it runs.
        session: What to start.
        user: `UID:GID` of the agent, so that display and buses are its own.

    Raises:
        SessionFailed: it ended, or is not ready in time; with the end of its output.
        EngineError: the engine refused.
    """
    argv = ["/bin/sh", "-c", _START, "sh", session.command, session.ready, LOG]
    try:
        code, output = run_plain(api, container, argv, user=user, timeout_s=session.timeout_s)
    except (DockerException, RequestException) as error:
        raise EngineError(f"the session cannot be started: {error}") from error
    if code == 0:
        return
    said = output.bytes_of("stdout").decode("utf-8", "replace").strip()
    how = f"is not ready after {session.timeout_s:g} s" if code is None else "does not come up"
    raise SessionFailed(f"the session {how}: {said}")
