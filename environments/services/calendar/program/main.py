"""A calendar over HTTP, with free-busy times and attendees who answer by rules."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from httpkit import Problem, Reply, Request, json_reply, text_reply
from seeding import SeedError
from servicekit import App, Route, found_in, known, main, words_of

ANSWERS = ("accepted", "declined", "tentative")
BUSY = {"start": "time!", "end": "time!", "title": "text"}
PERSON = {
    "name": "text",
    "email": "text!",
    "busy": [BUSY],
    "hours": {"start": "text!", "end": "text!"},
}
ATTENDEE = {
    "email": "text!",
    "answer": ("pending", *ANSWERS),
    "comment": "text",
}
EVENT = {
    "id": "text",
    "title": "text",
    "start": "time",
    "end": "time",
    "location": "text",
    "description": "text",
    "organizer": "text",
    "attendees": [ATTENDEE],
}
HELP = """Calendar of {owner}, times in {zone}. JSON over HTTP; bodies are JSON objects or forms.
It is {now}.

GET    /events?from=2026-03-02&to=2026-03-06   events; also q=, attendee=
GET    /events/ID
POST   /events {{title, start, end, location, description, attendees: [emails]}}
PATCH  /events/ID {{...}}                        change what is named; attendees are asked anew
DELETE /events/ID                              cancel
POST   /events/ID/invite {{attendees: [emails]}}
POST   /events/ID/respond {{answer: accepted|declined|tentative, comment}}
GET    /freebusy?people=a@x,b@x&from=&to=      when people are busy
GET    /people                                 the directory
"""
HELP_ZH = """{owner} 的日历，时区 {zone}。HTTP 上的 JSON 接口；请求体为 JSON 对象或表单。
现在是 {now}。

GET    /events?from=2026-03-02&to=2026-03-06   日程列表；还可用 q=、attendee=
GET    /events/ID
POST   /events {{title, start, end, location, description, attendees: [邮箱]}}   新建
PATCH  /events/ID {{...}}                        修改；会重新询问参会人
DELETE /events/ID                              取消
POST   /events/ID/invite {{attendees: [邮箱]}}                                   邀请
POST   /events/ID/respond {{answer: accepted|declined|tentative, comment}}       答复
GET    /freebusy?people=a@x,b@x&from=&to=      他人的忙闲
GET    /people                                 通讯录
"""


def overlaps(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two spans share a moment."""
    return a["start"] < b["end"] and b["start"] < a["end"]


class Calendar(App):
    """The calendar of one person."""

    name = "calendar"
    port = 8026
    schema = {
        "owner": {"name": "text", "email": "text!"},
        "timezone": "text",
        "conflicts": ("warn", "refuse"),
        "people": [PERSON],
        "events": [EVENT],
    }
    verbs = {
        "event": {**EVENT, "title": "text"},
        "cancel": {"id": "text!"},
        "busy": {"email": "text!", **BUSY},
        "answer": {"id": "text!", "email": "text!", "answer": ANSWERS, "comment": "text"},
    }
    reply_schema = {"answer": ANSWERS, "comment": "text"}
    rule_fields = ("attendee", "title", "description", "location", "start", "end", "weekday")

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "help", self.help),
            ("GET", "/people", "people", self.people),
            ("GET", "/freebusy", "freebusy", self.freebusy),
            ("GET", "/events", "list", self.list_events),
            ("POST", "/events", "create", self.create),
            ("GET", "/events/{id}", "read", self.read),
            ("PATCH", "/events/{id}", "update", self.update),
            ("DELETE", "/events/{id}", "delete", self.delete),
            ("POST", "/events/{id}/invite", "invite", self.invite),
            ("POST", "/events/{id}/respond", "respond", self.respond),
        ]

    def populate(self) -> None:
        """Owner, people and events of the seed."""
        zone = self.seed["timezone"] or "UTC"
        try:
            self.zone = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            raise SeedError("seed.json.timezone", f"unknown zone {zone!r}") from error
        people = {p["email"].lower(): {**p, "busy": list(p["busy"])} for p in self.seed["people"]}
        self.state |= {
            "owner": self.seed["owner"] or {"name": "Me", "email": "me@example.com"},
            "timezone": zone,
            "people": people,
            "events": {},
            "created": [],
        }
        for index, event in enumerate(self.seed["events"]):
            try:
                self.do_event(event)
            except Problem as error:
                raise SeedError(f"seed.json.events[{index}]", error.message) from error

    @property
    def events(self) -> dict[str, dict[str, Any]]:
        """All events by id."""
        return self.state["events"]

    @property
    def me(self) -> str:
        """The owner's address."""
        return self.state["owner"]["email"].lower()

    # Changes between rounds.

    def do_event(self, fields: dict[str, Any]) -> dict[str, Any]:
        """An event is there, or is otherwise than before."""
        identity = fields.get("id") or self.new_id("e", self.events)
        event = self.events.get(identity)
        if event is None:
            event = self._blank(identity, "seed")
        given = {k: v for k, v in fields.items() if k not in {"id", "attendees"} and v}
        event |= given
        if fields.get("organizer"):
            event["organizer"] = fields["organizer"].lower()
        for attendee in fields.get("attendees") or []:
            email = attendee["email"].lower()
            event["attendees"][email] = {**attendee, "email": email}
        self._check(event)
        self.events[identity] = event
        return {"id": identity, "title": event["title"]}

    def do_cancel(self, fields: dict[str, Any]) -> dict[str, Any]:
        """An event is cancelled by whoever organises it."""
        known(self.events, fields["id"], "event")["status"] = "cancelled"
        return fields

    def do_busy(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody is busy."""
        person = known(self.state["people"], fields["email"].lower(), "person")
        span = {k: fields.get(k, "") for k in ("start", "end", "title")}
        person["busy"].append(span)
        return fields

    def do_answer(self, fields: dict[str, Any]) -> dict[str, Any]:
        """An attendee answers, or changes an answer."""
        event = known(self.events, fields["id"], "event")
        attendee = known(event["attendees"], fields["email"].lower(), "attendee")
        attendee |= {"answer": fields["answer"], "comment": fields.get("comment", "")}
        return fields

    def _blank(self, identity: str, creator: str) -> dict[str, Any]:
        return {
            "id": identity,
            "title": "",
            "start": "",
            "end": "",
            "location": "",
            "description": "",
            "organizer": self.me,
            "status": "confirmed",
            "attendees": {},
            "created_by": creator,
        }

    @staticmethod
    def _check(event: dict[str, Any]) -> None:
        for name in ("title", "start", "end"):
            if not event[name]:
                raise Problem(400, f"`{name}` is missing")
        if event["end"] <= event["start"]:
            raise Problem(400, "`end` is not after `start`")

    # Times.

    def moment(self, text: str, name: str, *, end: bool = False) -> str:
        """A time in the calendar's zone; a date alone is its first or last moment.

        Raises:
            Problem: it is no time.
        """
        try:
            when = datetime.fromisoformat(text)
        except ValueError as error:
            raise Problem(400, f"`{name}`: expected a time like 2026-03-02T09:00") from error
        if when.tzinfo is not None:
            try:
                when = when.astimezone(self.zone)
            except (OverflowError, ValueError) as error:
                raise Problem(400, f"`{name}`: out of range") from error
        written = f"{when.year:04}-{when.month:02}-{when.day:02}T{when.hour:02}:{when.minute:02}"
        return f"{written[:10]}T24:00" if end and len(text) <= 10 else written

    def _range(self, request: Request) -> dict[str, str]:
        begin, end = request.query.get("from"), request.query.get("to")
        return {
            "start": self.moment(begin, "from") if begin else "",
            "end": self.moment(end, "to", end=True) if end else "9999",
        }

    # Reading.

    def help(self, request: Request) -> Reply:
        """What can be asked."""
        text = HELP_ZH if self.chinese else HELP
        owner = f"{self.state['owner']['name']} <{self.me}>"
        return text_reply(text.format(owner=owner, zone=self.state["timezone"], now=self.now))

    def people(self, request: Request) -> Reply:
        """The directory, without what people do."""
        found = [{k: p[k] for k in ("name", "email", "hours")} for p in self._everybody()]
        return json_reply({"people": found})

    def _everybody(self) -> list[dict[str, Any]]:
        return list(self.state["people"].values())

    def busy(self, email: str, *, but: str = "") -> list[dict[str, str]]:
        """When somebody is busy: own times, and events that they did not decline."""
        spans = [dict(s) for s in self.state["people"].get(email, {}).get("busy", [])]
        for event in self.events.values():
            if event["status"] == "cancelled" or event["id"] == but:
                continue
            attendee = event["attendees"].get(email)
            comes = attendee is not None and attendee["answer"] in {"accepted", "tentative"}
            if comes or event["organizer"] == email:
                spans.append({k: event[k] for k in ("start", "end", "title")})
        return sorted(spans, key=lambda s: (s["start"], s["end"]))

    def freebusy(self, request: Request) -> Reply:
        """Busy times of people, without titles."""
        asked = request.query.get("people", "").replace(";", ",").split(",")
        emails = [e.strip().lower() for e in asked if e.strip()][:100]
        if not emails:
            raise Problem(400, "`people` is missing")
        span = self._range(request)
        request.note = {"people": emails, "from": span["start"], "to": span["end"]}
        found: dict[str, Any] = {}
        for email in emails:
            if email != self.me and email not in self.state["people"]:
                raise Problem(404, f"there is no person {email[:100]!r}")
            found[email] = [
                {"start": s["start"], "end": s["end"]}
                for s in self.busy(email)
                if overlaps(s, span)
            ]
        return json_reply({"busy": found})

    def _view(self, event: dict[str, Any]) -> dict[str, Any]:
        return {**event, "attendees": list(event["attendees"].values())}

    def list_events(self, request: Request) -> Reply:
        """Events in the order of their start; cancelled ones are marked."""
        span, words = self._range(request), words_of(request.query.get("q", ""))
        who = request.query.get("attendee", "").lower()
        found = [
            self._view(e)
            for e in self.events.values()
            if overlaps(e, span)
            and found_in(words, e["title"], e["description"], e["location"])
            and (not who or who in e["attendees"] or who == e["organizer"])
        ]
        request.note = {"q": request.query.get("q", ""), "results": len(found)}
        return json_reply({"events": sorted(found, key=lambda e: (e["start"], e["id"]))})

    def read(self, request: Request, identity: str) -> Reply:
        """One event."""
        request.note = {"id": identity}
        return json_reply(self._view(known(self.events, identity, "event")))

    # Writing.

    def _emails(self, request: Request, *, needed: bool = False) -> list[str]:
        found = [e.lower() for e in request.texts("attendees", needed=needed)]
        for email in found:
            if "@" not in email or " " in email:
                raise Problem(400, f"`attendees`: {email[:100]!r} is no mail address")
        return list(dict.fromkeys(found))

    def _take(self, request: Request, event: dict[str, Any]) -> None:
        """What the body says about an event."""
        for name in ("title", "location", "description"):
            if request.has(name):
                event[name] = request.text(name, most=20_000).strip()
        for name in ("start", "end"):
            if request.has(name):
                event[name] = self.moment(request.line(name, needed=True), name)
        self._check(event)

    def _conflicts(self, event: dict[str, Any]) -> list[str]:
        return [
            other["id"]
            for other in self.events.values()
            if other["id"] != event["id"]
            and other["status"] != "cancelled"
            and (other["organizer"] == self.me or self._coming(other))
            and overlaps(other, event)
        ]

    def _coming(self, event: dict[str, Any]) -> bool:
        mine = event["attendees"].get(self.me)
        return mine is not None and mine["answer"] != "declined"

    def _refuse_conflicts(self, event: dict[str, Any]) -> list[str]:
        found = self._conflicts(event)
        if found and self.seed["conflicts"] == "refuse":
            raise Problem(409, "the time is taken", conflicts=found)
        return found

    def create(self, request: Request) -> Reply:
        """A new event; attendees are asked."""
        event = self._blank(self.new_id("e", self.events), "agent")
        request.note = {"title": request.line("title"), "start": request.line("start")}
        self._take(request, event)
        emails = self._emails(request)
        conflicts = self._refuse_conflicts(event)
        self.events[event["id"]] = event
        self.state["created"].append(event["id"])
        shown = ("id", "title", "start", "end", "location", "description")
        request.note = {k: event[k] for k in shown}
        request.note |= {"attendees": emails, "conflicts": conflicts}
        self._ask(event, emails)
        return json_reply({**self._view(event), "conflicts": conflicts}, 201)

    def _own(self, identity: str) -> dict[str, Any]:
        event = known(self.events, identity, "event")
        if event["organizer"] != self.me:
            raise Problem(403, f"{event['organizer']} organises event {identity}")
        if event["status"] == "cancelled":
            raise Problem(409, f"event {identity} is cancelled")
        return event

    def update(self, request: Request, identity: str) -> Reply:
        """Change an event; when its time changes all attendees are asked anew."""
        request.note = {"id": identity, "changed": sorted(map(str, request.body))}
        event = self._own(identity)
        before = {k: event[k] for k in ("start", "end")}
        self._take(request, event)
        conflicts = self._refuse_conflicts(event)
        asked = self._emails(request)
        if request.has("attendees"):
            event["attendees"] = {k: v for k, v in event["attendees"].items() if k in asked}
        new = [e for e in asked if e not in event["attendees"]]
        moved = before != {k: event[k] for k in ("start", "end")}
        shown = ("title", "start", "end", "location")
        request.note |= {**{k: event[k] for k in shown}, "conflicts": conflicts}
        self._ask(event, [*event["attendees"], *new] if moved else new)
        return json_reply({**self._view(event), "conflicts": conflicts})

    def delete(self, request: Request, identity: str) -> Reply:
        """Cancel an event; it stays visible as cancelled."""
        request.note = {"id": identity}
        event = self._own(identity)
        event["status"] = "cancelled"
        request.note["title"] = event["title"]
        return json_reply(self._view(event))

    def invite(self, request: Request, identity: str) -> Reply:
        """Invite more people."""
        request.note = {"id": identity}
        event, emails = self._own(identity), self._emails(request, needed=True)
        request.note["attendees"] = emails
        self._ask(event, emails)
        return json_reply(self._view(event))

    def respond(self, request: Request, identity: str) -> Reply:
        """The owner's answer to an invitation."""
        request.note = {"id": identity}
        event, answer = known(self.events, identity, "event"), request.line("answer", needed=True)
        request.note |= {"answer": answer, "comment": request.text("comment")}
        if answer not in ANSWERS:
            raise Problem(400, f"`answer`: expected one of {', '.join(ANSWERS)}")
        if self.me not in event["attendees"]:
            raise Problem(409, f"you are not invited to event {identity}")
        event["attendees"][self.me] |= {"answer": answer, "comment": request.text("comment")}
        return json_reply(self._view(event))

    # Attendees.

    def _ask(self, event: dict[str, Any], emails: list[str]) -> None:
        for email in emails:
            event["attendees"][email] = {"email": email, "answer": "pending", "comment": ""}
            self._answer_of(event, email)

    def _answer_of(self, event: dict[str, Any], email: str) -> None:
        """By the first rule that matches, else by whether the person is free."""
        begin = datetime.fromisoformat(event["start"])
        fields: dict[str, Any] = {k: event[k] for k in ("title", "description", "location")}
        fields |= {"attendee": email, "start": event["start"], "end": event["end"]}
        fields["weekday"] = begin.strftime("%A")
        rules = self.rules_for(fields, lambda _: email)
        for rule in rules:
            answer = rule["reply"] and {
                "do": "answer",
                "id": event["id"],
                "email": email,
                **rule["reply"],
            }
            self.answer_by(rule, answer)
        person = self.state["people"].get(email)
        if person is None or any(rule["reply"] for rule in rules):
            return
        free = not any(overlaps(s, event) for s in self.busy(email, but=event["id"]))
        comes = free and within_hours(event, person["hours"])
        answer = "accepted" if comes else "declined"
        self.do_answer({"id": event["id"], "email": email, "answer": answer})
        self.event("calendar.answer", id=event["id"], email=email, answer=answer)


def within_hours(event: dict[str, Any], hours: dict[str, str] | None) -> bool:
    """Whether an event lies in somebody's working hours, on one day."""
    if hours is None:
        return True
    start, end = event["start"], event["end"]
    inside = hours["start"] <= start[11:] and end[11:] <= hours["end"]
    return inside and start[:10] == end[:10]


if __name__ == "__main__":
    main(Calendar)
