"""EDICT: a court of OpenClaw agents; the crown prince hears the user and delegates.

The roles' texts come from a checkout of EDICT in the image (`/opt/edict`); the roster, who may call
whom, and the workspaces are laid out here as its installer does, in the form that this version of
OpenClaw takes. Each role has a workspace of its own, so the first message names the task's.
Must not know what the roles say.
"""

import json
import shlex
from typing import ClassVar

from pydantic import JsonValue

from uniclaw.errors import HarnessError
from uniclaw.harnesses.cli import Seating
from uniclaw.harnesses.launcher import Command
from uniclaw.harnesses.openclaw import OpenClaw

MINISTRIES = ("hubu", "libu", "libu_hr", "bingbu", "xingbu", "gongbu")
CALLS: dict[str, tuple[str, ...]] = {
    "taizi": ("zhongshu",),
    "zhongshu": ("menxia", "shangshu"),
    "menxia": ("shangshu", "zhongshu"),
    "shangshu": ("zhongshu", "menxia", *MINISTRIES),
    **dict.fromkeys(MINISTRIES, ("shangshu",)),
    "zaochao": (),
}
"""Who may start whom."""
_SETUP_S = 60.0
_TREE = "/opt/edict"
_SETUP = """
set -e
test -s {tree}/agents/taizi/SOUL.md
test -d {copy} || cp -r {tree} {copy}
mkdir -p {copy}/data
for role in {copy}/agents/*/; do
  id=$(basename "$role"); place={state}/workspace-$id
  mkdir -p "$place/skills"
  if [ -f "$role/SOUL.md" ]; then
    sed "s|__REPO_DIR__|{copy}|g" "$role/SOUL.md" > "$place/SOUL.md"
  fi
  ln -sfn {copy}/data "$place/data"
  if [ -d {copy}/scripts ]; then ln -sfn {copy}/scripts "$place/scripts"; fi
done
"""


class Edict(OpenClaw):
    """See `cli.Program`."""

    agent: ClassVar[str] = "taizi"

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating)
        self._copy = f"{seating.home}/edict"

    def settings(self) -> dict[str, JsonValue]:
        """OpenClaw's configuration with the court in it."""
        whole = super().settings()
        agents = whole["agents"]
        roster: list[JsonValue] = [self._entry(role, called) for role, called in CALLS.items()]
        court: dict[str, JsonValue] = {"ownership": "explicit", "list": roster}
        names: list[JsonValue] = list(CALLS)
        tools: dict[str, JsonValue] = {
            "sessions": {"visibility": "all"},
            "agentToAgent": {"enabled": True, "allow": names},
            # The roles' texts name the session tools, so they stand among the offered ones.
            "toolSearch": False,
        }
        base = agents if isinstance(agents, dict) else {}
        return {**whole, "agents": {**base, **court}, "tools": tools}

    def _entry(self, role: str, called: tuple[str, ...]) -> dict[str, JsonValue]:
        allowed: list[JsonValue] = list(called)
        return {
            "id": role,
            "workspace": f"{self.state}/workspace-{role}",
            "subagents": {"allowAgents": allowed},
        }

    async def start(self) -> None:
        """Lay out the workspaces, then bring up the gateway."""
        places = {"tree": _TREE, "copy": self._copy, "state": self.state}
        script = _SETUP.format(**{key: shlex.quote(value) for key, value in places.items()})
        done = await self.seating.environment.exec(script, timeout_s=_SETUP_S)
        if done.exit_code != 0:
            said = done.stderr.decode("utf-8", "replace")[-500:]
            raise HarnessError(f"no checkout of EDICT at {_TREE} in the image: {said}")
        await super().start()

    async def command(self, message: str, *, first: bool) -> Command:
        """The first message names the task's directory: no role starts there."""
        place = json.dumps(self.seating.workspace)
        told = (
            f"(The working directory of this task is {place}.)\n\n{message}" if first else message
        )
        return await super().command(told, first=first)
