"""A mailbox over HTTP, with correspondents who answer by the seed's rules."""

import base64
import binascii
import hashlib
import mimetypes
import re
from pathlib import Path, PurePosixPath
from typing import Any

from httpkit import Problem, Reply, Request, json_reply, text_reply
from seeding import SeedError
from servicekit import (
    App,
    Route,
    checked_items,
    found_in,
    known,
    main,
    matching,
    window,
    words_of,
)

FOLDERS = ("inbox", "sent", "drafts", "archive", "spam", "trash")
MAX_FILES_BYTES = 32_000_000
MAX_KEPT_TEXT = 20_000
_ADDRESS = re.compile(r"[^\s@<>,;\"]+@[^\s@<>,;\"]+")
_FOLDER = re.compile(r"[\w][\w .-]{0,59}")

ATTACHMENT = {"name": "text", "text": "any", "file": "text", "type": "text"}
ANSWER = {
    "from": "text",
    "to": "texts",
    "cc": "texts",
    "subject": "text",
    "body": "text",
    "attachments": [ATTACHMENT],
}
MESSAGE = {
    **ANSWER,
    "id": "text",
    "folder": "text",
    "bcc": "texts",
    "date": "time",
    "read": "flag",
    "in_reply_to": "text",
}
HELP = """Mail of {account}. JSON over HTTP; bodies are JSON objects or forms.

GET    /folders                           folders with counts
POST   /folders {{name}}                    a new folder
GET    /messages?folder=inbox             list; also unread=true, from=, q=, limit=, offset=
GET    /messages/ID                       one message (marks it read)
GET    /messages/ID/attachments           its attachments
GET    /messages/ID/attachments/NAME      one of them, as a file
GET    /threads/ID                        all messages of a thread
GET    /search?q=words                    search in all mail; also folder=
POST   /send {{to, cc, bcc, subject, body, attachments: [{{name, text | base64}}]}}
POST   /messages/ID/reply {{body, all, cc, attachments}}
POST   /messages/ID/forward {{to, body}}
POST   /messages/ID/move {{folder}}
PATCH  /messages/ID {{read, flagged}}
DELETE /messages/ID                       to the trash; from the trash for good
GET    /drafts
POST   /drafts {{to, subject, body, ...}}   keep a draft
PATCH  /drafts/ID {{...}}                   change a draft
POST   /drafts/ID/send                    send a draft
"""
HELP_ZH = """{account} 的邮箱。HTTP 上的 JSON 接口；请求体为 JSON 对象或表单。

GET    /folders                           文件夹及数量
POST   /folders {{name}}                    新建文件夹
GET    /messages?folder=inbox             列表；还可用 unread=true、from=、q=、limit=、offset=
GET    /messages/ID                       一封邮件（标为已读）
GET    /messages/ID/attachments           附件列表
GET    /messages/ID/attachments/NAME      下载一个附件
GET    /threads/ID                        同一会话的全部邮件
GET    /search?q=关键词                   搜索全部邮件；还可用 folder=
POST   /send {{to, cc, bcc, subject, body, attachments: [{{name, text | base64}}]}}
POST   /messages/ID/reply {{body, all, cc, attachments}}      回复
POST   /messages/ID/forward {{to, body}}                      转发
POST   /messages/ID/move {{folder}}                           移动
PATCH  /messages/ID {{read, flagged}}                         标记
DELETE /messages/ID                       移到回收站；在回收站中则彻底删除
GET    /drafts                            草稿
POST   /drafts {{to, subject, body, ...}}   保存草稿
PATCH  /drafts/ID {{...}}                   修改草稿
POST   /drafts/ID/send                    发送草稿
"""


def address_of(text: str) -> str:
    """The bare address of `Name <address>`, in small letters; empty when there is none."""
    found = _ADDRESS.search(text)
    return found.group(0).lower() if found else ""


class Mail(App):
    """The mailbox of one person."""

    name = "mail"
    port = 8025
    schema = {
        "account": {"name": "text", "address": "text!"},
        "folders": "texts",
        "messages": [MESSAGE],
    }
    verbs = {"receive": MESSAGE, "remove": {"id": "text!"}}
    reply_schema = ANSWER
    rule_fields = ("to", "cc", "subject", "body", "attachment")

    def make_routes(self) -> list[Route]:
        """All routes."""
        one = "/messages/{id}"
        return [
            ("GET", "/", "help", self.help),
            ("GET", "/folders", "folders", self.folders),
            ("POST", "/folders", "folder_create", self.create_folder),
            ("GET", "/messages", "list", self.list_messages),
            ("GET", one, "read", self.read),
            ("PATCH", one, "mark", self.mark),
            ("DELETE", one, "delete", self.delete),
            ("GET", f"{one}/attachments", "attachments", self.attachments),
            ("GET", f"{one}/attachments/{{name}}", "attachment", self.attachment),
            ("POST", f"{one}/reply", "reply", self.reply),
            ("POST", f"{one}/forward", "forward", self.forward),
            ("POST", f"{one}/move", "move", self.move),
            ("GET", "/threads/{id}", "thread", self.thread),
            ("GET", "/search", "search", self.search),
            ("POST", "/send", "send", self.send),
            ("GET", "/drafts", "drafts", self.drafts),
            ("POST", "/drafts", "draft", self.draft),
            ("PATCH", "/drafts/{id}", "draft_update", self.update_draft),
            ("POST", "/drafts/{id}/send", "draft_send", self.send_draft),
        ]

    def populate(self) -> None:
        """Account, folders and messages of the seed."""
        account = self.seed["account"] or {"name": "Me", "address": "me@example.com"}
        self.state |= {
            "account": account,
            "folders": list(dict.fromkeys([*FOLDERS, *self.seed["folders"]])),
            "messages": {},
            "sent": [],
            "sent_to": [],
            "deleted": [],
            "files_bytes": 0,
        }
        for index, message in enumerate(self.seed["messages"]):
            try:
                self._take_in(message)
            except Problem as error:
                raise SeedError(f"seed.json.messages[{index}]", error.message) from error

    @property
    def messages(self) -> dict[str, dict[str, Any]]:
        """All messages by id."""
        return self.state["messages"]

    @property
    def me(self) -> str:
        """The account's address."""
        return self.state["account"]["address"]

    # Changes between rounds.

    def do_receive(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A message arrives."""
        message = self._take_in(fields)
        return {k: message[k] for k in ("id", "from", "subject")}

    def do_remove(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A message is gone, as if it had never been there."""
        known(self.messages, fields["id"], "message")
        del self.messages[fields["id"]]
        return fields

    def _take_in(self, fields: dict[str, Any]) -> dict[str, Any]:
        folder = fields.get("folder") or "inbox"
        if folder not in self.state["folders"]:
            raise Problem(400, f"folder: there is no {folder!r}")
        mine = folder in {"sent", "drafts"}
        if not mine and not fields.get("from"):
            raise Problem(400, "from: is missing")
        identity = fields.get("id") or self.new_id("m", self.messages)
        if identity in self.messages:
            raise Problem(400, f"id: {identity!r} stands twice")
        message = self._new(identity, folder, fields)
        message["from"] = fields.get("from") or self.me
        message["to"] = fields.get("to") or ([] if mine else [self.me])
        message["read"] = bool(fields.get("read")) or mine
        message["attachments"] = [self._seed_file(a) for a in fields.get("attachments") or []]
        return message

    def _new(self, identity: str, folder: str, fields: dict[str, Any]) -> dict[str, Any]:
        parent = self.messages.get(fields.get("in_reply_to") or "")
        message = {
            "id": identity,
            "folder": folder,
            "from": self.me,
            "to": fields.get("to") or [],
            "cc": fields.get("cc") or [],
            "bcc": fields.get("bcc") or [],
            "subject": fields.get("subject") or "",
            "body": fields.get("body") or "",
            "date": fields.get("date") or self.now,
            "read": True,
            "flagged": False,
            "in_reply_to": fields.get("in_reply_to") or None,
            "thread": parent["thread"] if parent else identity,
            "attachments": [],
        }
        self.messages[identity] = message
        return message

    # Attachments.

    def _seed_file(self, given: dict[str, Any]) -> dict[str, Any]:
        """An attachment that the author gives as text or as a file of the seed."""
        if isinstance(given.get("text"), str):
            if not given.get("name"):
                raise Problem(400, "attachments: `name` is missing")
            return self._keep_file(given["name"], given["text"].encode(), given.get("type") or "")
        relative = PurePosixPath(given.get("file") or "")
        if not given.get("file") or relative.is_absolute() or ".." in relative.parts:
            raise Problem(400, "attachments: expected `text`, or `file` inside the seed")
        path = self.root / "seed" / relative
        if path.is_symlink() or not path.is_file():
            raise Problem(400, f"attachments: there is no file {str(relative)!r} in the seed")
        name = given.get("name") or relative.name
        return self._describe(name, path.read_bytes(), given.get("type") or "", f"seed/{relative}")

    def _keep_file(self, name: str, data: bytes, kind: str) -> dict[str, Any]:
        self.state["files_bytes"] += len(data)
        if self.state["files_bytes"] > MAX_FILES_BYTES:
            raise Problem(507, "there is no room for more attachments")
        where = f"state/files/{hashlib.sha256(data).hexdigest()}"
        path = self.root / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return self._describe(name, data, kind, where)

    @staticmethod
    def _describe(name: str, data: bytes, kind: str, where: str) -> dict[str, Any]:
        name = Path(name.replace("\\", "/")).name.strip()[:200]
        if not name or name in {".", ".."} or not name.isprintable():
            raise Problem(400, "attachments: expected a file name")
        found = {
            "name": name,
            "type": kind or mimetypes.guess_type(name)[0] or "application/octet-stream",
            "size": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "where": where,
        }
        try:
            found["text"] = data.decode("utf-8")[:MAX_KEPT_TEXT]
        except UnicodeDecodeError:
            found["text"] = None
        return found

    def _sent_files(self, request: Request) -> list[dict[str, Any]]:
        schema = {"name": "text!", "text": "text", "base64": "text", "type": "text"}
        found: list[dict[str, Any]] = []
        for item in checked_items(request.body.get("attachments"), schema, "attachments"):
            data = item["text"].encode()
            if item["base64"]:
                try:
                    data = base64.b64decode(item["base64"], validate=True)
                except (binascii.Error, ValueError) as error:
                    raise Problem(400, f"attachments: `base64` is none: {error}") from error
            found.append(self._keep_file(item["name"], data, item["type"]))
        return found

    def attachments(self, request: Request, identity: str) -> Reply:
        """List a message's attachments."""
        message = known(self.messages, identity, "message")
        request.note = {"id": identity}
        return json_reply({"attachments": self._view(message)["attachments"]})

    def attachment(self, request: Request, identity: str, name: str) -> Reply:
        """One attachment's bytes."""
        request.note = {"id": identity, "name": name}
        message = known(self.messages, identity, "message")
        for item in message["attachments"]:
            if item["name"] == name:
                data = (self.root / item["where"]).read_bytes()
                return Reply(data, 200, "application/octet-stream")
        raise Problem(404, f"message {identity} has no attachment {name[:100]!r}")

    # Reading.

    def help(self, request: Request) -> Reply:
        """What can be asked."""
        text = HELP_ZH if self.chinese else HELP
        return text_reply(text.format(account=f"{self.state['account']['name']} <{self.me}>"))

    def folders(self, request: Request) -> Reply:
        """All folders."""
        counts = {name: {"name": name, "total": 0, "unread": 0} for name in self.state["folders"]}
        for message in self.messages.values():
            counts[message["folder"]]["total"] += 1
            counts[message["folder"]]["unread"] += not message["read"]
        return json_reply({"folders": list(counts.values())})

    def create_folder(self, request: Request) -> Reply:
        """A new folder."""
        name = request.line("name", needed=True)
        request.note = {"name": name}
        if not _FOLDER.fullmatch(name):
            raise Problem(400, "`name`: expected letters, digits, spaces, dots and dashes")
        if name in self.state["folders"]:
            raise Problem(409, f"there is a folder {name!r} already")
        self.state["folders"].append(name)
        return json_reply({"name": name}, 201)

    def _view(self, message: dict[str, Any]) -> dict[str, Any]:
        shown = ("name", "type", "size", "sha256")
        return {
            **message,
            "attachments": [{k: a[k] for k in shown} for a in message["attachments"]],
        }

    def _summary(self, message: dict[str, Any]) -> dict[str, Any]:
        shown = ("id", "folder", "from", "to", "subject", "date", "read", "flagged", "thread")
        names = [a["name"] for a in message["attachments"]]
        preview = " ".join(message["body"].split())[:120]
        return {**{k: message[k] for k in shown}, "preview": preview, "attachments": names}

    def _select(self, request: Request, folder: str | None) -> list[dict[str, Any]]:
        query = request.query
        if folder is not None and folder not in self.state["folders"]:
            raise Problem(404, f"there is no folder {folder[:100]!r}")
        sender, words = query.get("from", "").casefold(), words_of(query.get("q", ""))
        unread = query.get("unread", "").lower() in {"1", "true", "yes"}
        found = [
            m
            for m in self.messages.values()
            if (folder is None or m["folder"] == folder)
            and sender in m["from"].casefold()
            and not (unread and m["read"])
            and found_in(words, *_searched(m))
        ]
        # Newest first; the later of two of one time is the newer.
        return sorted(reversed(found), key=lambda m: m["date"], reverse=True)

    def list_messages(self, request: Request) -> Reply:
        """A folder's messages."""
        folder = request.query.get("folder", "inbox")
        found = self._select(request, None if folder == "all" else folder)
        request.note = {"folder": folder, "q": request.query.get("q", ""), "results": len(found)}
        shown = [self._summary(m) for m in window(request, found)]
        return json_reply({"total": len(found), "messages": shown})

    def search(self, request: Request) -> Reply:
        """Search all mail."""
        if not request.query.get("q"):
            raise Problem(400, "`q` is missing")
        found = self._select(request, request.query.get("folder"))
        request.note = {"q": request.query["q"], "results": len(found)}
        shown = [self._summary(m) for m in window(request, found)]
        return json_reply({"total": len(found), "messages": shown})

    def read(self, request: Request, identity: str) -> Reply:
        """One message; it counts as read then."""
        request.note = {"id": identity}
        message = known(self.messages, identity, "message")
        message["read"] = True
        request.note |= {"from": message["from"], "subject": message["subject"]}
        return json_reply(self._view(message))

    def thread(self, request: Request, identity: str) -> Reply:
        """All messages of a thread, oldest first."""
        request.note = {"id": identity}
        found = [self._view(m) for m in self.messages.values() if m["thread"] == identity]
        if not found:
            raise Problem(404, f"there is no thread {identity[:100]!r}")
        return json_reply({"thread": identity, "messages": sorted(found, key=lambda m: m["date"])})

    # Writing.

    def _recipients(self, request: Request, name: str) -> list[str]:
        found = request.texts(name)
        for item in found:
            if not address_of(item):
                raise Problem(400, f"`{name}`: {item[:100]!r} is no mail address")
        return found

    def _fields(self, request: Request) -> dict[str, Any]:
        parent = request.line("in_reply_to")
        if parent:
            known(self.messages, parent, "message")
        return {
            "to": self._recipients(request, "to"),
            "cc": self._recipients(request, "cc"),
            "bcc": self._recipients(request, "bcc"),
            "subject": request.line("subject"),
            "body": request.text("body"),
            "in_reply_to": parent,
        }

    def _note(self, request: Request, message: dict[str, Any]) -> None:
        shown = ("id", "to", "cc", "bcc", "subject", "body", "in_reply_to")
        names = [a["name"] for a in message["attachments"]]
        request.note = {**{k: message[k] for k in shown}, "attachments": names}

    def _dispatch(self, request: Request, message: dict[str, Any]) -> Reply:
        """Send a message that is in place, and let the correspondents answer."""
        self._note(request, message)
        everyone = [*message["to"], *message["cc"], *message["bcc"]]
        if not everyone:
            raise Problem(400, "`to` is missing")
        message |= {"folder": "sent", "date": self.now, "read": True}
        self.state["sent"].append(message["id"])
        self.state["sent_to"] += [address_of(a) for a in everyone]
        if self.me.lower() in {address_of(a) for a in everyone}:
            copy = {**message, "id": self.new_id("m", self.messages), "folder": "inbox"}
            self.messages[copy["id"]] = {**copy, "read": False}
        self._let_answer(message, everyone)
        return json_reply({"id": message["id"], "status": "sent"}, 201)

    def _let_answer(self, message: dict[str, Any], everyone: list[str]) -> None:
        def sender(rule: dict[str, Any]) -> str:
            if rule["reply"] is None:
                return f"rule {rule['id']}"
            wanted = rule["when"].get("to") or rule["when"].get("cc") or ""
            matched = [a for a in everyone if matching(a, wanted)]
            return rule["reply"]["from"] or (matched or everyone)[0]

        fields = {
            "to": everyone,
            "cc": message["cc"],
            "subject": message["subject"],
            "body": message["body"],
            "attachment": [a["name"] for a in message["attachments"]],
        }
        for rule in self.rules_for(fields, sender):
            answer = rule["reply"] and {
                "do": "receive",
                **rule["reply"],
                "from": sender(rule),
                "subject": rule["reply"]["subject"] or prefixed("Re: ", message["subject"]),
                "in_reply_to": message["id"],
            }
            self.answer_by(rule, answer)

    def send(self, request: Request) -> Reply:
        """Send a new message."""
        fields = self._fields(request)
        request.note = {**fields}
        if not fields["to"] and not fields["cc"] and not fields["bcc"]:
            raise Problem(400, "`to` is missing")
        files = self._sent_files(request)
        message = self._new(self.new_id("m", self.messages), "sent", fields)
        message["attachments"] = files
        return self._dispatch(request, message)

    def reply(self, request: Request, identity: str) -> Reply:
        """Answer a message; with `all` everybody who had it."""
        request.note = {"in_reply_to": identity}
        parent = known(self.messages, identity, "message")
        mine = address_of(parent["from"]) == self.me.lower()
        to = parent["to"] if mine else [parent["from"]]
        cc = self._recipients(request, "cc")
        if request.flag("all"):
            others = [*parent["to"], *parent["cc"]]
            had = {self.me.lower(), *(address_of(a) for a in [*to, *cc])}
            cc += [a for a in others if address_of(a) not in had]
        fields = {
            "to": list(to),
            "cc": cc,
            "bcc": self._recipients(request, "bcc"),
            "subject": request.line("subject") or prefixed("Re: ", parent["subject"]),
            "body": request.text("body", needed=True),
            "in_reply_to": identity,
        }
        files = self._sent_files(request)
        message = self._new(self.new_id("m", self.messages), "sent", fields)
        message["attachments"] = files
        return self._dispatch(request, message)

    def forward(self, request: Request, identity: str) -> Reply:
        """Pass a message on, with its attachments."""
        request.note = {"in_reply_to": identity}
        parent = known(self.messages, identity, "message")
        said = f"From: {parent['from']}\nDate: {parent['date']}\nSubject: {parent['subject']}"
        fields = self._fields(request) | {"in_reply_to": identity}
        fields["subject"] = fields["subject"] or prefixed("Fwd: ", parent["subject"])
        fields["body"] = f"{fields['body']}\n\n----\n{said}\n\n{parent['body']}".lstrip()
        files = self._sent_files(request)
        message = self._new(self.new_id("m", self.messages), "sent", fields)
        message["attachments"] = [*parent["attachments"], *files]
        return self._dispatch(request, message)

    def drafts(self, request: Request) -> Reply:
        """All drafts."""
        found = [self._view(m) for m in self.messages.values() if m["folder"] == "drafts"]
        return json_reply({"drafts": found})

    def draft(self, request: Request) -> Reply:
        """Keep a draft."""
        fields = self._fields(request)
        files = self._sent_files(request)
        message = self._new(self.new_id("m", self.messages), "drafts", fields)
        message["attachments"] = files
        self._note(request, message)
        return json_reply(self._view(message), 201)

    def _draft(self, identity: str) -> dict[str, Any]:
        message = known(self.messages, identity, "draft")
        if message["folder"] != "drafts":
            raise Problem(409, f"message {identity} is no draft")
        return message

    def update_draft(self, request: Request, identity: str) -> Reply:
        """Change what the body names."""
        request.note = {"id": identity}
        message = self._draft(identity)
        fields = self._fields(request)
        message |= {k: v for k, v in fields.items() if request.has(k)}
        if request.has("attachments"):
            message["attachments"] = self._sent_files(request)
        self._note(request, message)
        return json_reply(self._view(message))

    def send_draft(self, request: Request, identity: str) -> Reply:
        """Send a draft as it is."""
        request.note = {"id": identity}
        return self._dispatch(request, self._draft(identity))

    def move(self, request: Request, identity: str) -> Reply:
        """To another folder."""
        folder = request.line("folder", needed=True)
        request.note = {"id": identity, "folder": folder}
        message = known(self.messages, identity, "message")
        if folder not in self.state["folders"]:
            raise Problem(404, f"there is no folder {folder[:100]!r}")
        if folder in {"sent", "drafts"} and folder != message["folder"]:
            raise Problem(409, f"nothing is moved to {folder!r}")
        message["folder"] = folder
        return json_reply(self._summary(message))

    def mark(self, request: Request, identity: str) -> Reply:
        """Set `read` and `flagged`."""
        request.note = {"id": identity}
        message = known(self.messages, identity, "message")
        if not request.has("read") and not request.has("flagged"):
            raise Problem(400, "expected `read` or `flagged`")
        for name in ("read", "flagged"):
            message[name] = request.flag(name, default=message[name])
            request.note[name] = message[name]
        return json_reply(self._summary(message))

    def delete(self, request: Request, identity: str) -> Reply:
        """To the trash; from there for good."""
        message = known(self.messages, identity, "message")
        gone = message["folder"] == "trash"
        request.note = {"id": identity, "permanent": gone, "subject": message["subject"]}
        if gone:
            del self.messages[identity]
            self.state["deleted"].append(identity)
        else:
            message["folder"] = "trash"
        return json_reply({"id": identity, "permanent": gone})


def prefixed(prefix: str, subject: str) -> str:
    """A subject with `Re: ` or `Fwd: ` before it, once."""
    return subject if subject.lower().startswith(prefix.lower()) else prefix + subject


def _searched(message: dict[str, Any]) -> list[str]:
    names = [a["name"] for a in message["attachments"]]
    people = [message["from"], *message["to"], *message["cc"]]
    return [message["subject"], message["body"], *people, *names]


if __name__ == "__main__":
    main(Mail)
