"""Plays a shipped service as a plain program: a seed, requests, rounds, and what it left."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from pydantic import JsonValue

REPOSITORY = Path(__file__).resolve().parents[2]
SERVICES = REPOSITORY / "environments" / "services"


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object, **kwargs: object) -> None:
        """Redirects are shown, not followed."""


OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())


@dataclass(frozen=True)
class Answer:
    """What a service answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def text(self) -> str:
        return self.body.decode("utf-8")

    def at(self, *path: str | int) -> JsonValue:
        """A value inside the JSON document."""
        return dig(json.loads(self.body), *path)


def dig(value: JsonValue, *path: str | int) -> JsonValue:
    """A value inside a JSON document."""
    for step in path:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step]
        else:
            assert isinstance(value, dict)
            value = value[str(step)]
    return value


@dataclass
class Played:
    """A service's directory, and its program while it runs."""

    name: str
    root: Path
    process: "subprocess.Popen[str] | None" = field(default=None)
    port: int = 0

    def begin(self) -> None:
        """Start the program; it says its port when it listens."""
        self.process = self._popen()
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said:
            self.process.wait(timeout=10)
            assert self.process.stderr is not None
            raise AssertionError(self.process.stderr.read())
        self.port = int(said.rpartition(":")[2])

    def _popen(self) -> "subprocess.Popen[str]":
        environ = {
            **os.environ,
            "UNICLAW_SERVICE_ROOT": str(self.root),
            "UNICLAW_SERVICE_PORT": "0",
            "PYTHONPATH": str(SERVICES / "common"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        return subprocess.Popen(
            [sys.executable, str(SERVICES / self.name / "program" / "main.py")],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def refusal(self) -> tuple[int, str]:
        """Exit code and message of a program that does not start."""
        process = self._popen()
        _, said = process.communicate(timeout=20)
        return process.returncode, said

    def end(self, *, kill: bool = False) -> None:
        """End the program."""
        if self.process is None:
            return
        if kill:
            self.process.kill()
        else:
            self.process.terminate()
        self.process.communicate(timeout=10)
        self.process = None

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, JsonValue] | None = None,
        *,
        raw: bytes | None = None,
        kind: str = "application/json",
    ) -> Answer:
        """One request; a body goes as JSON."""
        data = raw if raw is not None else None if body is None else json.dumps(dict(body)).encode()
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=data,
            method=method,
            headers={"Content-Type": kind} if data is not None else {},
        )
        try:
            with OPENER.open(request, timeout=20) as answer:
                return Answer(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), dict(error.headers))

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def post(self, path: str, **body: JsonValue) -> Answer:
        return self.ask("POST", path, body)

    def form(self, path: str, **fields: str) -> Answer:
        """Post a form as a browser does."""
        kind = "application/x-www-form-urlencoded"
        return self.ask("POST", path, raw=urlencode(fields).encode(), kind=kind)

    def round(self, number: int) -> None:
        """Say which round it is, as the host does."""
        place = self.root / "control" / "round"
        place.with_name(".round").write_text(str(number), encoding="utf-8")
        place.with_name(".round").replace(place)

    def state(self, *path: str | int) -> JsonValue:
        return dig(json.loads((self.root / "state" / "state.json").read_text("utf-8")), *path)

    def audit(self) -> list[dict[str, JsonValue]]:
        text = (self.root / "state" / "audit.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def actions(self) -> list[str]:
        """Actions in order; those of the service itself have a `*`."""
        return [
            f"{e['action']}{'*' if e['actor'] == 'service' else ''}{'' if e['ok'] else ' refused'}"
            for e in self.audit()
        ]


def place(root: Path, name: str, seed: JsonValue = None) -> Played:
    """A service's directories with a seed; not started."""
    for part in ("seed", "state", "control"):
        (root / part).mkdir(parents=True, exist_ok=True)
    if seed is not None:
        text = json.dumps(seed, ensure_ascii=False)
        (root / "seed" / "seed.json").write_text(text, encoding="utf-8")
    return Played(name, root)


@contextmanager
def playing(root: Path, name: str, seed: JsonValue = None) -> Generator[Played]:
    """A running service; ended in any case."""
    played = place(root, name, seed)
    try:
        played.begin()
        yield played
    finally:
        played.end()
