"""A web ticket system: list with filters, comments, assignment, states, people who answer."""

from typing import Any

from httpkit import Problem, Reply, Request, json_reply, see
from seeding import SeedError
from servicekit import Route, found_in, known, main, words_of
from sitekit import Site, area, at, choice, field, form, h, link, table, text_block

COMMENT = {"author": "text!", "text": "text!", "internal": "flag", "time": "time"}
TICKET = {
    "id": "text",
    "title": "text",
    "description": "text",
    "state": "text",
    "priority": "text",
    "assignee": "text",
    "reporter": "text",
    "labels": "texts",
    "created": "time",
    "comments": [COMMENT],
}
SETTABLE = ("state", "priority", "assignee", "labels")
STATES = ("open", "in_progress", "waiting", "resolved", "closed")
PRIORITIES = ("low", "normal", "high", "urgent")
LINKS = ("duplicate", "related", "blocks")
FILTERS = ("state", "assignee", "priority", "label", "reporter")
NOBODY = "none"
"""Of the assignee filter: tickets without one."""


class Tickets(Site):
    """The ticket system as one agent of the desk sees it."""

    name = "tickets"
    port = 8033
    schema = {
        **Site.site_fields,
        "user": {"id": "text!", "name": "text"},
        "users": [{"id": "text!", "name": "text", "role": "text"}],
        "states": "texts",
        "transitions": "object",
        "priorities": "texts",
        "tickets": [TICKET],
    }
    verbs = {
        "ticket": TICKET,
        "comment": {"ticket": "text!", **COMMENT},
        "set": {
            "ticket": "text!",
            "state": "text",
            "priority": "text",
            "assignee": "text",
            "labels": "texts",
        },
    }
    reply_schema = {"author": "text", "text": "text!"}
    rule_fields = ("ticket", "comment", "state", "assignee", "title", "priority")
    labels = {
        "site": ("Tickets", "工单系统"),
        "tickets": ("Tickets", "工单"),
        "new": ("New ticket", "新建工单"),
        "id": ("Ticket", "编号"),
        "title": ("Title", "标题"),
        "description": ("Description", "描述"),
        "state": ("State", "状态"),
        "priority": ("Priority", "优先级"),
        "assignee": ("Assignee", "负责人"),
        "reporter": ("Reporter", "提交人"),
        "label": ("Label", "标签"),
        "labels": ("Labels", "标签"),
        "created": ("Created", "创建时间"),
        "any": ("any", "不限"),
        "nobody": ("nobody", "无"),
        "filter": ("Filter", "筛选"),
        "sort": ("Sort by", "排序"),
        "comments": ("Comments", "评论"),
        "comment": ("Comment", "评论"),
        "internal": ("Internal note", "内部备注"),
        "add": ("Add comment", "添加评论"),
        "set": ("Set", "设置"),
        "links": ("Links", "关联"),
        "other": ("Other ticket", "关联工单"),
        "kind": ("Kind", "类型"),
        "create": ("Create", "创建"),
        "yes": ("yes", "是"),
        "no": ("no", "否"),
        "history": ("History", "历史"),
        "not_from": ("{} cannot follow {}; possible: {}", "状态 {} 不能接在 {} 之后；可用：{}"),
    }

    def make_routes(self) -> list[Route]:
        """All routes."""
        one, api = "/ticket/{id}", "/api/tickets/{id}"
        return [
            ("GET", "/", "list", self.home),
            ("GET", "/search", "list", self.home),
            ("GET", "/new", "new_form", self.new_form),
            ("POST", "/new", "create", self.create),
            ("GET", one, "view", self.view),
            ("POST", f"{one}/comment", "comment", self.comment),
            ("POST", f"{one}/assign", "assign", self.assign),
            ("POST", f"{one}/state", "state", self.set_state),
            ("POST", f"{one}/priority", "priority", self.set_priority),
            ("POST", f"{one}/labels", "labels", self.set_labels),
            ("POST", f"{one}/link", "link", self.link),
            ("GET", "/api/tickets", "list", self.api_list),
            ("POST", "/api/tickets", "create", self.api_create),
            ("GET", api, "view", self.api_view),
            ("PATCH", api, "update", self.api_update),
            ("POST", f"{api}/comments", "comment", self.api_comment),
        ]

    def populate(self) -> None:
        """Users and tickets of the seed."""
        seed = self.seed
        me = seed["user"] or {"id": "me", "name": "Me"}
        everybody = [{**me, "role": ""}, *seed["users"]]
        self.states = seed["states"] or list(STATES)
        self.priorities = seed["priorities"] or list(PRIORITIES)
        self.transitions: dict[str, list[str]] = seed["transitions"] or {}
        for state, after in self.transitions.items():
            if not isinstance(after, list) or {state, *map(str, after)} - set(self.states):
                known_ones = ", ".join(self.states)
                raise SeedError(
                    f"seed.json.transitions.{state}", f"expected states; known are {known_ones}"
                )
        self.state |= {
            "user": me["id"],
            "users": {u["id"]: {**u, "name": u["name"] or u["id"]} for u in everybody},
            "tickets": {},
            "created": [],
            "searches": 0,
        }
        for index, ticket in enumerate(seed["tickets"]):
            if ticket["id"] in self.tickets:
                raise SeedError(f"seed.json.tickets[{index}].id", "stands twice")
            try:
                self.do_ticket(ticket)
            except Problem as error:
                raise SeedError(f"seed.json.tickets[{index}]", error.message) from error

    @property
    def tickets(self) -> dict[str, dict[str, Any]]:
        """All tickets by id."""
        return self.state["tickets"]

    # Changes between rounds.

    def do_ticket(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A ticket is there, or is otherwise than before."""
        identity = fields.get("id") or self.new_id("T-", self.tickets)
        ticket = self.tickets.get(identity) or self._blank(identity)
        given = {k: v for k, v in fields.items() if v not in ("", None, []) and k != "id"}
        comments = given.pop("comments", [])
        ticket |= given
        if not ticket["title"]:
            raise Problem(400, "title: is missing")
        self._check(ticket)
        for comment in comments:
            known(self.state["users"], comment["author"], "user")
            ticket["comments"].append({**comment, "time": comment["time"] or self.now})
        self.tickets[identity] = ticket
        return {"id": identity, "title": ticket["title"]}

    def do_comment(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody comments."""
        ticket = known(self.tickets, fields["ticket"], "ticket")
        known(self.state["users"], fields["author"], "user")
        self._say(ticket, fields["author"], fields["text"], bool(fields.get("internal")))
        return {"ticket": fields["ticket"], "author": fields["author"], "text": fields["text"]}

    def do_set(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody else sets fields of a ticket."""
        ticket = known(self.tickets, fields["ticket"], "ticket")
        for name in SETTABLE:
            if name in fields:
                self._set(ticket, name, fields[name], "service")
        self._check(ticket)
        return fields

    def _blank(self, identity: str) -> dict[str, Any]:
        return {
            "id": identity,
            "title": "",
            "description": "",
            "state": self.states[0],
            "priority": "normal" if "normal" in self.priorities else self.priorities[0],
            "assignee": "",
            "reporter": self.state["user"],
            "labels": [],
            "created": self.now,
            "comments": [],
            "links": [],
            "history": [],
        }

    def _check(self, ticket: dict[str, Any]) -> None:
        if ticket["state"] not in self.states:
            raise Problem(400, f"`state`: expected one of {', '.join(self.states)}")
        if ticket["priority"] not in self.priorities:
            raise Problem(400, f"`priority`: expected one of {', '.join(self.priorities)}")
        for name in ("assignee", "reporter"):
            if ticket[name]:
                known(self.state["users"], ticket[name], "user")

    def _say(self, ticket: dict[str, Any], author: str, text: str, internal: bool) -> None:
        comment = {"author": author, "text": text, "internal": internal, "time": self.now}
        ticket["comments"].append(comment)

    def _set(self, ticket: dict[str, Any], name: str, value: Any, actor: str) -> None:
        if ticket[name] == value:
            return
        entry = {"round": self.state["round"], "actor": actor, "field": name}
        ticket["history"].append({**entry, "from": ticket[name], "to": value})
        ticket[name] = value

    # Reading.

    def menu(self) -> list[tuple[str, str]]:
        """A new ticket from every page."""
        return [("/", self.t("tickets")), ("/new", self.t("new"))]

    def _name(self, user: str) -> str:
        return self.state["users"].get(user, {}).get("name", user)

    def _people(self, empty: tuple[str, str]) -> list[tuple[str, str]]:
        return [empty, *((u["id"], u["name"]) for u in self.state["users"].values())]

    def _form(self, query: dict[str, str]) -> str:
        anything = ("", self.t("any"))
        options = {
            "state": [anything, *((s, s) for s in self.states)],
            "assignee": [*self._people(anything), (NOBODY, self.t("nobody"))],
            "priority": [anything, *((p, p) for p in self.priorities)],
            "reporter": self._people(anything),
            "sort": [("", "id"), ("created", self.t("created")), ("priority", self.t("priority"))],
        }
        fields = field("q", self.t("search_for"), query.get("q", ""), kind="search")
        fields += "".join(
            choice(name, self.t(name), shown, query.get(name, ""))
            for name, shown in options.items()
        )
        fields += field("label", self.t("label"), query.get("label", ""))
        return form("/", fields, self.t("filter"), name="filter-form", method="get") + self.budget()

    def _select(self, request: Request) -> list[dict[str, Any]]:
        query = request.query
        names = ("q", *FILTERS, "sort")
        request.note = {k: query[k] for k in names if query.get(k)}
        words = words_of(query.get("q", ""))
        if words:
            self.spend_search()
        found = [t for t in self.tickets.values() if self._fits(t, query, words)]
        request.note["results"] = len(found)
        sort = query.get("sort", "")
        if sort == "created":
            found.sort(key=lambda t: t["created"])
        elif sort == "priority":
            found.sort(key=lambda t: -self.priorities.index(t["priority"]))
        elif sort:
            raise Problem(400, "`sort`: expected created or priority")
        return found

    def _fits(self, ticket: dict[str, Any], query: dict[str, str], words: list[str]) -> bool:
        for name in ("state", "priority", "reporter"):
            if query.get(name, "") not in {"", ticket[name]}:
                return False
        who, label = query.get("assignee", ""), query.get("label", "")
        if who and ticket["assignee"] != ("" if who == NOBODY else who):
            return False
        if label and label not in ticket["labels"]:
            return False
        said = [c["text"] for c in ticket["comments"]]
        return found_in(words, ticket["id"], ticket["title"], ticket["description"], *said)

    def home(self, request: Request) -> Reply:
        """The list."""
        found = self._select(request)
        shown, pages = self.paged(request, found)
        names = ("id", "title", "state", "priority", "assignee", "labels")
        rows = [
            [
                link(at("ticket", t["id"]), t["id"]),
                link(at("ticket", t["id"]), t["title"]),
                h(t["state"]),
                h(t["priority"]),
                h(self._name(t["assignee"])),
                h(", ".join(t["labels"])),
            ]
            for t in shown
        ]
        listed = table([self.t(n) for n in names], rows, name="tickets")
        return self.page(
            self.t("tickets"), self._form(request.query), self.count(found), listed, pages
        )

    def view(self, request: Request, identity: str) -> Reply:
        """One ticket with its forms."""
        request.note = {"id": identity}
        ticket = known(self.tickets, identity, "ticket")
        names = ("state", "priority", "assignee", "reporter", "labels", "created")
        shown = {**ticket, "labels": ", ".join(ticket["labels"])}
        shown |= {k: self._name(ticket[k]) for k in ("assignee", "reporter")}
        facts = "".join(
            f'<dt>{h(self.t(n))}</dt><dd id="ticket-{n}">{h(shown[n])}</dd>' for n in names
        )
        comments = "".join(
            f"<article><p><strong>{h(self._name(c['author']))}</strong> "
            f"<time>{h(c['time'])}</time>"
            f"{' [' + h(self.t('internal')) + ']' if c['internal'] else ''}</p>"
            f"{text_block(c['text'])}</article>"
            for c in ticket["comments"]
        )
        links = "".join(
            f"<li>{h(x['kind'])}: {link(at('ticket', x['other']), x['other'])}</li>"
            for x in ticket["links"]
        )
        return self.page(
            f"{identity}: {ticket['title']}",
            f"<dl>{facts}</dl>",
            f"<h2>{h(self.t('description'))}</h2>{text_block(ticket['description'])}",
            f'<ul id="links">{links}</ul>',
            f'<h2>{h(self.t("comments"))}</h2><div id="comments">{comments}</div>',
            *self._forms(ticket),
        )

    def _forms(self, ticket: dict[str, Any]) -> list[str]:
        options = [("", self.t("no")), ("true", self.t("yes"))]
        said = area("text", self.t("comment")) + choice("internal", self.t("internal"), options)
        people = self._people(("", self.t("nobody")))
        states = [(s, s) for s in self._next(ticket["state"])]
        priorities = [(p, p) for p in self.priorities]
        kinds = [(k, k) for k in LINKS]
        linked = choice("kind", self.t("kind"), kinds) + field("other", self.t("other"))
        assigned = choice("assignee", self.t("assignee"), people, ticket["assignee"])
        priority = choice("priority", self.t("priority"), priorities, ticket["priority"])
        labels = field("labels", self.t("labels"), ", ".join(ticket["labels"]))
        state = choice("state", self.t("state"), states, ticket["state"])
        parts = [
            ("comment", said, "add"),
            ("state", state, "set"),
            ("assign", assigned, "set"),
            ("priority", priority, "set"),
            ("labels", labels, "set"),
            ("link", linked, "set"),
        ]
        return [
            form(at("ticket", ticket["id"], where), fields, self.t(button), name=f"{where}-form")
            for where, fields, button in parts
        ]

    def new_form(self, request: Request) -> Reply:
        """The form of a new ticket."""
        fields = field("title", self.t("title")) + area("description", self.t("description"))
        default = "normal" if "normal" in self.priorities else self.priorities[0]
        priorities = [(p, p) for p in self.priorities]
        fields += choice("priority", self.t("priority"), priorities, default)
        fields += field("labels", self.t("labels"))
        return self.page(self.t("new"), form("/new", fields, self.t("create"), name="new-form"))

    # Writing.

    def _react(self, ticket: dict[str, Any], comment: str) -> None:
        """Let people answer what was done to a ticket."""
        fields: dict[str, Any] = {k: ticket[k] for k in ("title", "state", "assignee", "priority")}
        fields |= {"ticket": ticket["id"], "comment": comment}

        def sender(rule: dict[str, Any]) -> str:
            if rule["reply"] is None:
                return f"rule {rule['id']}"
            return rule["reply"]["author"] or ticket["reporter"]

        for rule in self.rules_for(fields, sender):
            answer = rule["reply"] and {
                "do": "comment",
                "ticket": ticket["id"],
                "author": sender(rule),
                "text": rule["reply"]["text"],
            }
            self.answer_by(rule, answer)

    def _create(self, request: Request) -> dict[str, Any]:
        request.note = {"title": request.line("title")}
        ticket = self._blank(self.new_id("T-", self.tickets))
        ticket |= {
            "title": request.line("title", needed=True),
            "description": request.text("description", most=40_000),
            "priority": request.line("priority") or ticket["priority"],
            "assignee": request.line("assignee"),
            "labels": list(dict.fromkeys(request.texts("labels"))),
        }
        self._check(ticket)
        self.tickets[ticket["id"]] = ticket
        self.state["created"].append(ticket["id"])
        shown = ("id", "title", "description", "priority", "assignee", "labels")
        request.note = {k: ticket[k] for k in shown}
        self._react(ticket, "")
        return ticket

    def create(self, request: Request) -> Reply:
        """A new ticket."""
        return see(at("ticket", self._create(request)["id"]))

    def _comment(self, request: Request, identity: str) -> dict[str, Any]:
        request.note = {"id": identity}
        ticket = known(self.tickets, identity, "ticket")
        text = request.text("text", needed=True, most=40_000)
        internal = request.flag("internal")
        self._say(ticket, self.state["user"], text, internal)
        request.note |= {"text": text, "internal": internal}
        # Outsiders do not see an internal note, so nobody answers it.
        if not internal:
            self._react(ticket, text)
        return ticket

    def comment(self, request: Request, identity: str) -> Reply:
        """Comment on a ticket."""
        return see(at("ticket", self._comment(request, identity)["id"]))

    def _next(self, state: str) -> list[str]:
        return [s for s in self.states if s == state or self._may(state, s)]

    def _may(self, before: str, after: str) -> bool:
        return not self.transitions or after in self.transitions.get(before, [])

    def _change(self, request: Request, identity: str, name: str, value: Any) -> dict[str, Any]:
        """Set one field as the user does."""
        ticket = known(self.tickets, identity, "ticket")
        before = ticket[name]
        request.note |= {"id": identity, name: value, "from": before, "to": value}
        if name == "state" and value in self.states and value not in self._next(before):
            possible = ", ".join(self._next(before))
            raise Problem(409, self.t("not_from", value, before, possible))
        self._set(ticket, name, value, "agent")
        self._check(ticket)
        return ticket

    def assign(self, request: Request, identity: str) -> Reply:
        """Give a ticket to somebody, or to nobody."""
        ticket = self._change(request, identity, "assignee", request.line("assignee"))
        self._react(ticket, "")
        return see(at("ticket", identity))

    def set_state(self, request: Request, identity: str) -> Reply:
        """Another state, with a comment if there is one."""
        ticket = self._change(request, identity, "state", request.line("state", needed=True))
        text = request.text("comment", most=40_000)
        if text.strip():
            self._say(ticket, self.state["user"], text, False)
            request.note["comment"] = text
        self._react(ticket, text)
        return see(at("ticket", identity))

    def set_priority(self, request: Request, identity: str) -> Reply:
        """Another priority."""
        value = request.line("priority", needed=True)
        self._react(self._change(request, identity, "priority", value), "")
        return see(at("ticket", identity))

    def set_labels(self, request: Request, identity: str) -> Reply:
        """Other labels, all of them."""
        self._change(request, identity, "labels", list(dict.fromkeys(request.texts("labels"))))
        return see(at("ticket", identity))

    def link(self, request: Request, identity: str) -> Reply:
        """Say how a ticket is related to another."""
        kind, other = request.line("kind", needed=True), request.line("other", needed=True)
        request.note = {"id": identity, "kind": kind, "other": other}
        ticket = known(self.tickets, identity, "ticket")
        known(self.tickets, other, "ticket")
        if kind not in LINKS or other == identity:
            raise Problem(400, f"expected another ticket, and one of {', '.join(LINKS)}")
        entry = {"kind": kind, "other": other}
        if entry not in ticket["links"]:
            ticket["links"].append(entry)
        return see(at("ticket", identity))

    # For programs.

    def api_list(self, request: Request) -> Reply:
        """The same list; a search costs the same."""
        found = self._select(request)
        hidden = {"comments", "history"}
        shown = [{k: v for k, v in t.items() if k not in hidden} for t in found]
        return json_reply({"total": len(shown), "tickets": shown[:500], **self.left()})

    def api_view(self, request: Request, identity: str) -> Reply:
        """One ticket."""
        request.note = {"id": identity}
        return json_reply(known(self.tickets, identity, "ticket"))

    def api_create(self, request: Request) -> Reply:
        """A new ticket."""
        return json_reply(self._create(request), 201)

    def api_comment(self, request: Request, identity: str) -> Reply:
        """Comment on a ticket."""
        return json_reply(self._comment(request, identity), 201)

    def api_update(self, request: Request, identity: str) -> Reply:
        """Set what the body names: state, priority, assignee, labels."""
        changed = sorted(map(str, request.body))
        request.note = {"id": identity, "changed": changed}
        ticket = known(self.tickets, identity, "ticket")
        if not changed or set(changed) - set(SETTABLE):
            raise Problem(400, f"expected some of {', '.join(SETTABLE)}, and nothing else")
        for name in changed:
            value = request.texts(name) if name == "labels" else request.line(name)
            self._change(request, identity, name, value)
        for name in ("from", "to"):
            request.note.pop(name)
        self._react(ticket, "")
        return json_reply(ticket)


if __name__ == "__main__":
    main(Tickets)
