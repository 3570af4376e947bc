"""What every shipped service is made of: state, audit, round changes, rules and routes.

A service is a subclass of `App`. Its state is one JSON object, written after every request that
changed it; each request leaves one line in the audit. Time is the seed's, ids are counters.
"""

import abc
import copy
import json
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from audit import Audit
from httpkit import (
    Problem,
    Reply,
    Request,
    Server,
    json_reply,
    parse_body,
    parse_target,
    text_reply,
)
from seeding import SeedError, conform, conform_field, load_seed

MAX_STATE_BYTES = 4_000_000
MAX_MATCHED = 20_000
"""Characters that a rule's regex looks at."""
LAST_ROUND = 10_000

Handler = Callable[..., Reply]
Route = tuple[str, str, str, Handler]
"""Method, pattern such as `/messages/{id}`, action, handler(request, *values)."""

RULE: dict[str, Any] = {
    "id": "text",
    "when": "regexes",
    "times": ("once", "always"),
    "from_round": "int",
    "to_round": "int",
    "after_rounds": "int",
    "then": "any",
}


class App(abc.ABC):
    """One service."""

    name: ClassVar[str]
    port: ClassVar[int]
    schema: ClassVar[dict[str, Any]]
    """Of the seed, without the common fields."""
    verbs: ClassVar[dict[str, dict[str, Any]]]
    """Of `changes` and `then`: the schema of each, carried out by `do_<verb>`."""
    reply_schema: ClassVar[dict[str, Any]] = {}
    rule_fields: ClassVar[tuple[str, ...]] = ()
    """What a rule's `when` may look at."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.lock = threading.Lock()
        self._parsed = self._read_seed()
        self.seed = self._parsed
        self.routes = self.make_routes()
        self.state: dict[str, Any] = {}
        self._events: list[dict[str, Any]] = []
        self._rehearse()
        self._saved = ""
        self._start()
        self.audit = Audit(root / "state" / "audit.jsonl")

    # What a service defines.

    @abc.abstractmethod
    def make_routes(self) -> list[Route]:
        """All routes, first match wins."""

    @abc.abstractmethod
    def populate(self) -> None:
        """Fill the fresh state from the seed."""

    def refuse(self, request: Request, problem: Problem) -> Reply:
        """The answer to a refused request."""
        return json_reply({"error": problem.message, **problem.more}, problem.status)

    # Seed.

    def _read_seed(self) -> dict[str, Any]:
        common = {
            "now": "time",
            "language": ("en", "zh"),
            "changes": "object",
            "rules": [{**RULE, "reply": self.reply_schema}] if self.rule_fields else "any",
        }
        seed = conform(
            load_seed(self.root / "seed" / "seed.json"), {**common, **self.schema}, "seed.json"
        )
        if seed["rules"] and not self.rule_fields:
            raise SeedError("seed.json.rules", "this service has no rules")
        seed["now"] = seed["now"] or "2026-03-02T09:00"
        seed["changes"] = {
            self._round(key): self._verbs(value, f"seed.json.changes.{key}")
            for key, value in (seed["changes"] or {}).items()
        }
        seed["rules"] = seed["rules"] or []
        seen: set[str] = set()
        for index, rule in enumerate(seed["rules"]):
            self._check_rule(rule, index, seen)
        return seed

    @staticmethod
    def _round(key: str) -> int:
        if not (key.isascii() and key.isdecimal()) or not 1 <= int(key) <= LAST_ROUND:
            raise SeedError(f"seed.json.changes.{key}", "expected the number of a round from 1")
        return int(key)

    def _verbs(self, value: Any, where: str) -> list[dict[str, Any]]:
        if not isinstance(value, list):
            raise SeedError(where, "expected a list")
        known = {"now": {"to": "time!"}, **self.verbs}
        found: list[dict[str, Any]] = []
        for index, item in enumerate(value):
            place = f"{where}[{index}]"
            verb = item.get("do") if isinstance(item, dict) else None
            if verb not in known:
                raise SeedError(f"{place}.do", f"{verb!r:.80} is none of {', '.join(known)}")
            schema = {"do": "text!", **known[verb]}
            # Only what is written counts, so that a change can leave the rest as it is.
            read = conform(item, schema, place)
            found.append({k: v for k, v in read.items() if k in item})
        return found

    def _check_rule(self, rule: dict[str, Any], index: int, seen: set[str]) -> None:
        place = f"seed.json.rules[{index}]"
        rule["id"] = rule["id"] or f"rule-{index + 1}"
        if rule["id"] in seen:
            raise SeedError(f"{place}.id", f"{rule['id']!r} stands twice")
        seen.add(rule["id"])
        for name in rule["when"]:
            if name not in self.rule_fields:
                known = ", ".join(self.rule_fields)
                raise SeedError(f"{place}.when.{name}", f"unknown; known are {known}")
        rule["then"] = self._verbs(rule["then"] or [], f"{place}.then")
        if rule["reply"] is None and not rule["then"]:
            raise SeedError(place, "has neither `reply` nor `then`")

    # State and rounds.

    def _fresh(self) -> None:
        # The state is made of the seed's parts: a copy, so that it never changes the seed.
        self.seed = copy.deepcopy(self._parsed)
        self.state = {
            "service": self.name,
            "round": 0,
            "now": self.seed["now"],
            "counts": {},
            "fired": {},
            "later": [],
            "next": {},
            "audit_dropped": 0,
        }
        self.populate()

    def _rehearse(self) -> None:
        """Carry out all changes once on a state that is thrown away: mistakes show at the start."""
        self._fresh()
        for number, changes in sorted(self.seed["changes"].items()):
            for index, change in enumerate(changes):
                place = f"seed.json.changes.{number}[{index}]"
                try:
                    self._carry_out(change)
                except Problem as error:
                    raise SeedError(place, error.message) from error
        self._events.clear()

    def _start(self) -> None:
        (self.root / "state").mkdir(parents=True, exist_ok=True)
        path = self.root / "state" / "state.json"
        self._fresh()
        self._events.clear()
        if path.exists():
            try:
                self.state = json.loads(path.read_text("utf-8"))
            except ValueError as error:
                raise SeedError("state.json", f"is no JSON: {error}") from error
        self._save()

    def _save(self, *, ours: bool = True) -> None:
        """Write the state where it changed.

        Args:
            ours: the service itself changed it, so that it is written whatever its size.

        Raises:
            Problem: it would be too large; nothing is written.
        """
        text = json.dumps(self.state, ensure_ascii=False, allow_nan=False)
        if text == self._saved:
            return
        large = len(text) > MAX_STATE_BYTES // 4 and len(text.encode("utf-8")) > MAX_STATE_BYTES
        if large and not ours and len(text) > len(self._saved):
            raise Problem(507, "there is no room for more")
        place = self.root / "state" / "state.json"
        new = place.with_name(".state.new")
        new.write_text(text, encoding="utf-8")
        new.replace(place)
        self._saved = text

    def _sync(self) -> None:
        """Catch up with the round that the host says."""
        try:
            said = (self.root / "control" / "round").read_text("ascii")[:20].strip()
        except (OSError, ValueError):
            return
        if not said.isdecimal():
            return
        target = min(int(said), LAST_ROUND)
        while self.state["round"] < target:
            self.state["round"] += 1
            number = self.state["round"]
            for change in self.seed["changes"].get(number, []):
                self._try(change)
            due = [item for item in self.state["later"] if item["round"] <= number]
            self.state["later"] = [i for i in self.state["later"] if i["round"] > number]
            for item in due:
                self._try(item["change"], rule=item["rule"])

    def _try(self, change: dict[str, Any], **more: Any) -> None:
        """Carry out a change; where what it is about is gone, note that."""
        try:
            self._carry_out(change, **more)
        except Problem as error:
            self.event(f"change.{change['do']}", ok=False, error=error.message, **more)

    def _carry_out(self, change: dict[str, Any], **more: Any) -> None:
        verb = change["do"]
        fields = {k: copy.deepcopy(v) for k, v in change.items() if k != "do"}
        if verb == "now":
            self.state["now"] = fields["to"]
            self.event("change.now", to=fields["to"], **more)
        else:
            note = getattr(self, f"do_{verb}")(fields)
            self.event(f"change.{verb}", **{**note, **more})

    def event(self, action: str, *, ok: bool = True, **fields: Any) -> None:
        """Note for the audit what the service did by itself."""
        self._events.append({"actor": "service", "action": action, "ok": ok, **fields})

    def new_id(self, prefix: str, taken: dict[str, Any]) -> str:
        """The next free id of a kind."""
        number = self.state["next"].get(prefix, 0)
        while True:
            number += 1
            if f"{prefix}{number}" not in taken:
                self.state["next"][prefix] = number
                return f"{prefix}{number}"

    @property
    def now(self) -> str:
        """The seeded time."""
        return self.state["now"]

    @property
    def chinese(self) -> bool:
        """Whether the service speaks Chinese."""
        return self.seed["language"] == "zh"

    # Rules.

    def rules_for(
        self, fields: dict[str, str | list[str]], sender: Callable[[dict[str, Any]], str]
    ) -> list[dict[str, Any]]:
        """Rules that answer something; of each sender the first that matches.

        Args:
            fields: what `when` looks at.
            sender: who answers by a rule.
        """
        found: dict[str, dict[str, Any]] = {}
        for rule in self.seed["rules"]:
            if self._matches(rule, fields):
                who = sender(rule)
                if who not in found:
                    found[who] = rule
        for rule in found.values():
            fired = self.state["fired"]
            fired[rule["id"]] = fired.get(rule["id"], 0) + 1
        return list(found.values())

    def _matches(self, rule: dict[str, Any], fields: dict[str, str | list[str]]) -> bool:
        number = self.state["round"]
        if rule["times"] == "once" and self.state["fired"].get(rule["id"]):
            return False
        if number < (rule["from_round"] or 0):
            return False
        if rule["to_round"] is not None and number > rule["to_round"]:
            return False
        return all(matching(fields.get(n, ""), p) for n, p in rule["when"].items())

    def answer_by(self, rule: dict[str, Any], change: dict[str, Any] | None) -> None:
        """Carry out a rule's answer and its `then`, now or in a later round."""
        changes = ([change] if change else []) + rule["then"]
        for item in changes:
            if rule["after_rounds"]:
                due = self.state["round"] + rule["after_rounds"]
                self.state["later"].append({"round": due, "rule": rule["id"], "change": item})
            else:
                self._try(item, rule=rule["id"])

    # Requests.

    def answer(self, method: str, target: str, body: bytes | Problem, kind: str) -> Reply:
        """Answer one request; one at a time, so that the audit is in the order of what happened."""
        with self.lock:
            request = Request(method, target[:500], (), {})
            try:
                request = parse_target("GET" if method == "HEAD" else method, target)
                if request.segments == ("health",):
                    return self._health()
                if request.segments == ("favicon.ico",):
                    # Browsers ask by themselves: nothing that anybody did.
                    return Reply(status=404)
                if isinstance(body, Problem):
                    raise body
                request.body = parse_body(body, kind)
                reply = self._act(request)
            except Problem as problem:
                reply = self._refused(request, problem)
            except Exception:  # The next request must find the service as it was before this one.
                traceback.print_exc()
                reply = self._refused(request, Problem(500, "something went wrong"))
            return reply

    def _health(self) -> Reply:
        self._sync()
        self._save()
        self._write_audit([])
        return text_reply("ok\n")

    def _act(self, request: Request) -> Reply:
        self._sync()
        self._save()
        self._write_audit([])
        handler, values = self._route(request)
        reply = handler(request, *values)
        line = self._line(request, True, reply.status)
        counts = self.state["counts"]
        counts[line["action"]] = counts.get(line["action"], 0) + 1
        self._save(ours=False)
        self._write_audit([line], read=request.method == "GET")
        return reply

    def _refused(self, request: Request, problem: Problem) -> Reply:
        self._events.clear()
        self.state = json.loads(self._saved)
        line = {**self._line(request, False, problem.status), "error": problem.message}
        self._write_audit([line], read=request.method == "GET")
        return self.refuse(request, problem)

    def _route(self, request: Request) -> tuple[Handler, list[str]]:
        allowed: list[str] = []
        for method, pattern, action, handler in self.routes:
            values = fit(pattern, request.segments)
            if values is None:
                continue
            if method == request.method:
                request.action = action
                return handler, values
            allowed.append(method)
        if allowed:
            raise Problem(405, f"{request.method} is not for this address; {', '.join(allowed)} is")
        raise Problem(404, "there is no such page")

    def _line(self, request: Request, ok: bool, status: int) -> dict[str, Any]:
        return {
            "actor": "agent",
            "action": f"{self.name}.{request.action or 'unknown'}",
            "ok": ok,
            "method": request.method,
            "path": request.path,
            "status": status,
            **request.note,
        }

    # Audit.

    def _write_audit(self, lines: list[dict[str, Any]], *, read: bool = False) -> None:
        """Append the request, then what the service did because of it."""
        items = [(line, read) for line in lines] + [(event, False) for event in self._events]
        self._events = []
        number = self.state["round"]
        dropped = self.audit.append([({"round": number, **item}, r) for item, r in items])
        if dropped:
            self.state["audit_dropped"] += dropped
            self._save()


def fit(pattern: str, segments: tuple[str, ...]) -> list[str] | None:
    """The values of a pattern's `{names}`, where the path fits it."""
    words = [word for word in pattern.split("/") if word]
    if len(words) != len(segments):
        return None
    values: list[str] = []
    for word, segment in zip(words, segments, strict=True):
        if word.startswith("{"):
            values.append(segment)
        elif word != segment:
            return None
    return values


def matching(value: str | list[str], pattern: str) -> bool:
    """Whether a regex is found in a text, or in one of several."""
    texts = value if isinstance(value, list) else [value]
    return any(re.search(pattern, t[:MAX_MATCHED], re.IGNORECASE | re.DOTALL) for t in texts)


def words_of(query: str) -> list[str]:
    """The words of a search, at most twenty."""
    return query.casefold().split()[:20]


def found_in(words: list[str], *texts: str) -> bool:
    """Whether all words stand somewhere in the texts."""
    text = "\n".join(texts).casefold()
    return all(word in text for word in words)


def known(table: dict[str, Any], key: str, what: str) -> Any:
    """An entry by its id.

    Raises:
        Problem: 404.
    """
    if key not in table:
        raise Problem(404, f"there is no {what} {key[:100]!r}")
    return table[key]


def window(request: Request, items: list[Any], *, default: int = 50) -> list[Any]:
    """The part of a list that `limit` and `offset` ask for."""
    offset = request.number("offset", 0, high=1_000_000)
    return items[offset : offset + request.number("limit", default, low=1, high=500)]


def checked_items(value: Any, schema: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of objects in a request's body.

    Raises:
        Problem: 400.
    """
    try:
        return conform_field(value, [schema], name)
    except SeedError as error:
        raise Problem(400, str(error)) from error


def main(kind: type[App]) -> None:
    """Run a service until it is ended."""
    environ = os.environ
    host = environ.get("UNICLAW_SERVICE_HOST", "127.0.0.1")
    port = environ.get("UNICLAW_SERVICE_PORT", str(kind.port))
    try:
        app = kind(Path(environ.get("UNICLAW_SERVICE_ROOT", "/service")))
    except SeedError as error:
        print(f"{kind.name}: {error}", file=sys.stderr)
        sys.exit(2)
    server = Server((host, int(port)), app.answer)
    print(f"{kind.name} listens on {host}:{server.server_address[1]}", flush=True)
    server.serve_forever()
