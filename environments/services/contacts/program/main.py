"""An address book over HTTP."""

import unicodedata
from typing import Any

from httpkit import Problem, Reply, Request, json_reply, text_reply
from seeding import SeedError
from servicekit import App, Route, found_in, known, main, window, words_of

TEXTS = ("name", "organization", "title", "address", "notes")
LISTS = ("emails", "phones", "tags")
CONTACT: dict[str, Any] = {"id": "text", **dict.fromkeys(TEXTS, "text")}
CONTACT |= dict.fromkeys(LISTS, "texts")
HELP = """Contacts. JSON over HTTP; bodies are JSON objects or forms.
Fields: name, emails, phones, organization, title, address, notes, tags.

GET    /contacts?tag=&limit=&offset=
GET    /contacts/ID
GET    /search?q=words
POST   /contacts {name, emails, ...}
PATCH  /contacts/ID {...}                 change what is named; a list is replaced
DELETE /contacts/ID
POST   /contacts/merge {keep, merge: [ids]} lists are united, blanks of `keep` filled
"""
HELP_ZH = """联系人。HTTP 上的 JSON 接口；请求体为 JSON 对象或表单。
字段：name、emails、phones、organization、title、address、notes、tags。

GET    /contacts?tag=&limit=&offset=      列表
GET    /contacts/ID                       一位联系人
GET    /search?q=关键词                   搜索
POST   /contacts {name, emails, ...}      新建
PATCH  /contacts/ID {...}                 修改；列表整体替换
DELETE /contacts/ID                       删除
POST   /contacts/merge {keep, merge: [ids]} 合并：列表取并集，空白字段补全
"""


class Contacts(App):
    """The address book of one person."""

    name = "contacts"
    port = 8028
    schema = {"contacts": [CONTACT]}
    verbs = {"contact": CONTACT, "remove": {"id": "text!"}}

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "help", self.help),
            ("GET", "/contacts", "list", self.list_contacts),
            ("POST", "/contacts", "create", self.create),
            ("POST", "/contacts/merge", "merge", self.merge),
            ("GET", "/contacts/{id}", "read", self.read),
            ("PATCH", "/contacts/{id}", "update", self.update),
            ("DELETE", "/contacts/{id}", "delete", self.delete),
            ("GET", "/search", "search", self.search),
        ]

    def populate(self) -> None:
        """Contacts of the seed."""
        self.state |= {"contacts": {}, "merged": {}, "created": [], "deleted": []}
        for index, contact in enumerate(self.seed["contacts"]):
            if contact["id"] in self.contacts:
                raise SeedError(f"seed.json.contacts[{index}].id", "stands twice")
            try:
                self.do_contact(contact)
            except Problem as error:
                raise SeedError(f"seed.json.contacts[{index}]", error.message) from error

    @property
    def contacts(self) -> dict[str, dict[str, Any]]:
        """All contacts by id."""
        return self.state["contacts"]

    # Changes between rounds.

    def do_contact(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A contact is there, or is otherwise than before."""
        identity = fields.get("id") or self.new_id("c", self.contacts)
        if identity in self.state["merged"]:
            raise Problem(409, f"contact {identity} is merged")
        blank = {"id": identity, **dict.fromkeys(TEXTS, ""), **{k: [] for k in LISTS}}
        given = {k: v for k, v in fields.items() if k != "id"}
        contact = {**self.contacts.get(identity, blank), **given}
        if not contact["name"]:
            raise Problem(400, "name: is missing")
        self.contacts[identity] = contact
        return {"id": identity, "name": contact["name"]}

    def do_remove(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A contact is gone."""
        known(self.contacts, fields["id"], "contact")
        del self.contacts[fields["id"]]
        return fields

    # Requests.

    def help(self, request: Request) -> Reply:
        """What can be asked."""
        return text_reply(HELP_ZH if self.chinese else HELP)

    def _contact(self, identity: str) -> dict[str, Any]:
        if identity in self.state["merged"]:
            into = self.state["merged"][identity]
            raise Problem(410, f"contact {identity} is merged into {into}", merged_into=into)
        return known(self.contacts, identity, "contact")

    def list_contacts(self, request: Request) -> Reply:
        """All, by name."""
        tag = request.query.get("tag")
        found = [c for c in self.contacts.values() if tag is None or tag in c["tags"]]
        found.sort(key=lambda c: (c["name"].casefold(), c["id"]))
        request.note = {"results": len(found)}
        return json_reply({"total": len(found), "contacts": window(request, found)})

    def search(self, request: Request) -> Reply:
        """Search all fields; full-width and composed forms are the same."""
        words = words_of(plain(request.query.get("q", "")))
        if not words:
            raise Problem(400, "`q` is missing")
        found = [c for c in self.contacts.values() if found_in(words, plain(" ".join(_texts(c))))]
        request.note = {"q": request.query["q"], "results": len(found)}
        return json_reply({"total": len(found), "contacts": window(request, found)})

    def read(self, request: Request, identity: str) -> Reply:
        """One contact."""
        request.note = {"id": identity}
        return json_reply(self._contact(identity))

    def _take(self, request: Request, contact: dict[str, Any]) -> None:
        unknown = sorted(set(map(str, request.body)) - {"id", *TEXTS, *LISTS})
        if unknown:
            known_ones = ", ".join([*TEXTS, *LISTS])
            raise Problem(400, f"`{unknown[0][:100]}` is unknown; known are {known_ones}")
        for name in TEXTS:
            if request.has(name):
                contact[name] = request.text(name, most=20_000).strip()
        for name in LISTS:
            if request.has(name):
                contact[name] = list(dict.fromkeys(request.texts(name)))
        for email in contact["emails"]:
            if "@" not in email:
                raise Problem(400, f"`emails`: {email[:100]!r} is no mail address")
        if not contact["name"]:
            raise Problem(400, "`name` is missing")

    def create(self, request: Request) -> Reply:
        """A new contact."""
        request.note = {"name": request.line("name")}
        contact: dict[str, Any] = {"id": self.new_id("c", self.contacts)}
        contact |= {**dict.fromkeys(TEXTS, ""), **{k: [] for k in LISTS}}
        self._take(request, contact)
        self.contacts[contact["id"]] = contact
        self.state["created"].append(contact["id"])
        request.note = {k: contact[k] for k in ("id", "name", "emails", "phones")}
        return json_reply(contact, 201)

    def update(self, request: Request, identity: str) -> Reply:
        """Change a contact."""
        request.note = {"id": identity, "changed": sorted(map(str, request.body))}
        contact = self._contact(identity)
        self._take(request, contact)
        return json_reply(contact)

    def delete(self, request: Request, identity: str) -> Reply:
        """Delete a contact."""
        request.note = {"id": identity}
        request.note["name"] = self._contact(identity)["name"]
        del self.contacts[identity]
        self.state["deleted"].append(identity)
        return json_reply({"id": identity, "deleted": True})

    def merge(self, request: Request) -> Reply:
        """Make several contacts one."""
        keep, others = request.line("keep", needed=True), request.texts("merge", needed=True)
        request.note = {"keep": keep, "merge": others}
        contact = self._contact(keep)
        if keep in others or len(set(others)) != len(others):
            raise Problem(400, "`merge`: expected other contacts than `keep`, each once")
        for other in [self._contact(identity) for identity in others]:
            for name in LISTS:
                contact[name] = list(dict.fromkeys([*contact[name], *other[name]]))
            for name in TEXTS:
                contact[name] = contact[name] or other[name]
            if other["notes"] and other["notes"] not in contact["notes"]:
                contact["notes"] += f"\n{other['notes']}"
            del self.contacts[other["id"]]
            self.state["merged"][other["id"]] = keep
        return json_reply(contact)


def plain(text: str) -> str:
    """Text in which compatible forms are one."""
    return unicodedata.normalize("NFKC", text)


def _texts(contact: dict[str, Any]) -> list[str]:
    return [contact[n] for n in TEXTS] + [item for n in LISTS for item in contact[n]]


if __name__ == "__main__":
    main(Contacts)
