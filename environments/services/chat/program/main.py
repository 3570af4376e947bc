"""A chat over HTTP: channels, direct messages, threads, and people who answer by rules."""

import re
from typing import Any

from httpkit import Problem, Reply, Request, json_reply, text_reply
from seeding import SeedError
from servicekit import App, Route, found_in, known, main, words_of

DM = "dm:"
_CHANNEL = re.compile(r"[\w][\w-]{0,59}")
MESSAGE = {
    "id": "text",
    "channel": "text",
    "dm": "text",
    "from": "text!",
    "text": "text!",
    "thread": "text",
    "time": "time",
}
CHANNEL = {"id": "text!", "name": "text", "topic": "text", "members": "texts", "private": "flag"}
HELP = """Chat of {user}. JSON over HTTP; bodies are JSON objects or forms.

GET    /users
GET    /channels
POST   /channels {{name, topic, members}}
POST   /channels/ID/join
GET    /channels/ID/messages?limit=50       the last ones; before=MESSAGE for earlier ones
POST   /channels/ID/messages {{text, thread}} `thread` is the id of the message to answer
GET    /dm/USER                             direct messages with somebody
POST   /dm/USER {{text, thread}}
GET    /messages/ID
GET    /messages/ID/thread
PATCH  /messages/ID {{text}}                  your own
DELETE /messages/ID                         your own
POST   /messages/ID/reactions {{emoji}}
GET    /search?q=words                      also channel=, from=
"""
HELP_ZH = """{user} 的聊天。HTTP 上的 JSON 接口；请求体为 JSON 对象或表单。

GET    /users                               成员
GET    /channels                            频道
POST   /channels {{name, topic, members}}     新建频道
POST   /channels/ID/join                    加入频道
GET    /channels/ID/messages?limit=50       最近的消息；用 before=消息ID 看更早的
POST   /channels/ID/messages {{text, thread}} 发消息；thread 为所回复消息的 ID
GET    /dm/USER                             与某人的私信
POST   /dm/USER {{text, thread}}              发私信
GET    /messages/ID                         一条消息
GET    /messages/ID/thread                  一个讨论串
PATCH  /messages/ID {{text}}                  修改自己的消息
DELETE /messages/ID                         删除自己的消息
POST   /messages/ID/reactions {{emoji}}       表情回应
GET    /search?q=关键词                     还可用 channel=、from=
"""


class Chat(App):
    """The chat as one person sees it."""

    name = "chat"
    port = 8027
    schema = {
        "user": "text",
        "users": [{"id": "text!", "name": "text", "title": "text"}],
        "channels": [CHANNEL],
        "messages": [MESSAGE],
    }
    verbs = {"post": MESSAGE, "remove": {"id": "text!"}, "channel": CHANNEL}
    reply_schema = {"from": "text", "text": "text!", "thread": "flag"}
    rule_fields = ("channel", "to", "text", "mention")

    def make_routes(self) -> list[Route]:
        """All routes."""
        return [
            ("GET", "/", "help", self.help),
            ("GET", "/users", "users", self.users),
            ("GET", "/channels", "channels", self.channels),
            ("POST", "/channels", "channel_create", self.create_channel),
            ("POST", "/channels/{id}/join", "join", self.join),
            ("GET", "/channels/{id}/messages", "read", self.read),
            ("POST", "/channels/{id}/messages", "post", self.post),
            ("GET", "/dm/{user}", "dm_read", self.read_dm),
            ("POST", "/dm/{user}", "dm", self.send_dm),
            ("GET", "/messages/{id}", "message", self.message),
            ("PATCH", "/messages/{id}", "edit", self.edit),
            ("DELETE", "/messages/{id}", "delete", self.delete),
            ("GET", "/messages/{id}/thread", "thread", self.thread),
            ("POST", "/messages/{id}/reactions", "react", self.react),
            ("GET", "/search", "search", self.search),
        ]

    def populate(self) -> None:
        """Users, channels and messages of the seed."""
        me = self.seed["user"] or "me"
        users = {u["id"]: {**u, "name": u["name"] or u["id"]} for u in self.seed["users"]}
        users.setdefault(me, {"id": me, "name": me, "title": ""})
        self.state |= {
            "user": me,
            "users": users,
            "channels": {},
            "messages": {},
            "posted": [],
            "deleted": [],
        }
        for kind, act in (("channels", self.do_channel), ("messages", self.do_post)):
            for index, item in enumerate(self.seed[kind]):
                try:
                    act(item)
                except Problem as error:
                    raise SeedError(f"seed.json.{kind}[{index}]", error.message) from error

    @property
    def messages(self) -> dict[str, dict[str, Any]]:
        """All messages by id, oldest first."""
        return self.state["messages"]

    @property
    def me(self) -> str:
        """The user's id."""
        return self.state["user"]

    # Changes between rounds.

    def do_channel(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A channel is there, or is otherwise than before."""
        identity = fields["id"]
        for user in fields.get("members") or []:
            known(self.state["users"], user, "user")
        old = self.state["channels"].get(identity)
        base = old or {"name": identity, "topic": "", "members": [], "private": False}
        given = {k: v for k, v in fields.items() if v not in ("", None, [])}
        self.state["channels"][identity] = {**base, **given}
        if old is None and not fields.get("members"):
            self.state["channels"][identity]["members"] = list(self.state["users"])
        return {"id": identity}

    def do_post(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Somebody writes."""
        known(self.state["users"], fields["from"], "user")
        if fields.get("dm"):
            known(self.state["users"], fields["dm"], "user")
            channel = DM + fields["dm"]
        else:
            channel = fields.get("channel") or ""
            if not channel.startswith(DM):
                known(self.state["channels"], channel, "channel")
        message = self._add(channel, fields["from"], fields["text"], fields.get("thread") or None)
        identity = fields.get("id") or message["id"]
        if identity != message["id"]:
            if identity in self.messages:
                raise Problem(400, f"id: {identity!r} stands twice")
            self.messages[identity] = {**self.messages.pop(message["id"]), "id": identity}
        self.messages[identity]["time"] = fields.get("time") or self.now
        shown = ("id", "channel", "from", "text")
        return {k: self.messages[identity][k] for k in shown}

    def do_remove(self, fields: dict[str, Any]) -> dict[str, Any]:
        """A message is gone."""
        known(self.messages, fields["id"], "message")
        del self.messages[fields["id"]]
        return fields

    def _add(self, channel: str, sender: str, text: str, thread: str | None) -> dict[str, Any]:
        if thread is not None:
            root = known(self.messages, thread, "message")
            if root["channel"] != channel:
                raise Problem(409, f"message {thread} is not in {channel}")
            # An answer to an answer belongs to the same thread.
            thread = root["thread"] or root["id"]
        message = {
            "id": self.new_id("m", self.messages),
            "channel": channel,
            "from": sender,
            "text": text,
            "thread": thread,
            "time": self.now,
            "edited": False,
            "reactions": [],
        }
        self.messages[message["id"]] = message
        return message

    # Reading.

    def help(self, request: Request) -> Reply:
        """What can be asked."""
        text = HELP_ZH if self.chinese else HELP
        return text_reply(text.format(user=self.state["users"][self.me]["name"]))

    def users(self, request: Request) -> Reply:
        """Everybody."""
        return json_reply({"you": self.me, "users": list(self.state["users"].values())})

    def _visible(self, channel: str) -> bool:
        if channel.startswith(DM):
            return True
        found = self.state["channels"].get(channel)
        return found is not None and (not found["private"] or self.me in found["members"])

    def _channel(self, identity: str) -> dict[str, Any]:
        channel = known(self.state["channels"], identity, "channel")
        if not self._visible(identity):
            raise Problem(403, f"{identity} is private")
        return channel

    def channels(self, request: Request) -> Reply:
        """Channels that the user may see, and open direct messages."""
        found = [c for c in self.state["channels"].values() if self._visible(c["id"])]
        with_whom = [m["channel"] for m in self.messages.values() if m["channel"].startswith(DM)]
        users = [c.removeprefix(DM) for c in dict.fromkeys(with_whom)]
        return json_reply({"channels": found, "direct_messages_with": users})

    def _latest(self, request: Request, channel: str) -> Reply:
        found = [m for m in self.messages.values() if m["channel"] == channel]
        before = request.query.get("before")
        if before:
            ids = [m["id"] for m in found]
            if before not in ids:
                raise Problem(404, f"there is no message {before[:100]!r} here")
            found = found[: ids.index(before)]
        limit = request.number("limit", 50, low=1, high=500)
        shown = found[-limit:]
        return json_reply({"messages": shown, "more": len(found) > len(shown)})

    def read(self, request: Request, identity: str) -> Reply:
        """The last messages of a channel."""
        request.note = {"channel": identity}
        self._channel(identity)
        return self._latest(request, identity)

    def read_dm(self, request: Request, user: str) -> Reply:
        """Direct messages with somebody."""
        request.note = {"user": user}
        known(self.state["users"], user, "user")
        return self._latest(request, DM + user)

    def _message(self, identity: str) -> dict[str, Any]:
        message = known(self.messages, identity, "message")
        if not self._visible(message["channel"]):
            raise Problem(403, f"{message['channel']} is private")
        return message

    def message(self, request: Request, identity: str) -> Reply:
        """One message."""
        request.note = {"id": identity}
        return json_reply(self._message(identity))

    def thread(self, request: Request, identity: str) -> Reply:
        """A message with all answers."""
        request.note = {"id": identity}
        message = self._message(identity)
        root = message["thread"] or identity
        found = [m for m in self.messages.values() if root in {m["id"], m["thread"]}]
        return json_reply({"thread": root, "messages": found})

    def search(self, request: Request) -> Reply:
        """Search what the user may see."""
        query = request.query
        words = words_of(query.get("q", ""))
        if not words:
            raise Problem(400, "`q` is missing")
        found = [
            m
            for m in self.messages.values()
            if self._visible(m["channel"])
            and found_in(words, m["text"])
            and query.get("channel", m["channel"]) == m["channel"]
            and query.get("from", m["from"]) == m["from"]
        ]
        request.note = {"q": query["q"], "results": len(found)}
        return json_reply({"total": len(found), "messages": found[-200:]})

    # Writing.

    def create_channel(self, request: Request) -> Reply:
        """A new channel."""
        name = request.line("name", needed=True).removeprefix("#")
        request.note = {"id": name}
        if not _CHANNEL.fullmatch(name):
            raise Problem(400, "`name`: expected letters, digits and dashes")
        if name in self.state["channels"]:
            raise Problem(409, f"there is a channel {name!r} already")
        members = list(dict.fromkeys([self.me, *request.texts("members")]))
        for user in members:
            known(self.state["users"], user, "user")
        channel = {
            "id": name,
            "name": name,
            "topic": request.line("topic"),
            "members": members,
            "private": request.flag("private"),
        }
        self.state["channels"][name] = channel
        request.note = {"id": name, "members": members}
        return json_reply(channel, 201)

    def join(self, request: Request, identity: str) -> Reply:
        """Become a member."""
        request.note = {"channel": identity}
        channel = self._channel(identity)
        if self.me not in channel["members"]:
            channel["members"].append(self.me)
        return json_reply(channel)

    def post(self, request: Request, identity: str) -> Reply:
        """Write to a channel."""
        request.note = {"channel": identity, "text": request.text("text")}
        channel = self._channel(identity)
        if self.me not in channel["members"]:
            raise Problem(403, f"you are no member of {identity}; join first")
        return self._write(request, identity, "")

    def send_dm(self, request: Request, user: str) -> Reply:
        """Write to somebody."""
        request.note = {"user": user, "text": request.text("text")}
        known(self.state["users"], user, "user")
        return self._write(request, DM + user, user)

    def _write(self, request: Request, channel: str, to: str) -> Reply:
        text = request.text("text", needed=True, most=40_000)
        message = self._add(channel, self.me, text, request.line("thread") or None)
        self.state["posted"].append(message["id"])
        request.note |= {k: message[k] for k in ("id", "channel", "text", "thread")}
        fields: dict[str, Any] = {
            "channel": "" if to else channel,
            "to": to,
            "text": text,
            "mention": re.findall(r"@([\w.-]+)", text) or "",
        }

        def sender(rule: dict[str, Any]) -> str:
            return (rule["reply"] or {}).get("from") or to or f"rule {rule['id']}"

        for rule in self.rules_for(fields, sender):
            answer = rule["reply"] and {
                "do": "post",
                "channel": channel,
                "from": sender(rule),
                "text": rule["reply"]["text"],
                "thread": message["thread"] or (message["id"] if rule["reply"]["thread"] else ""),
            }
            self.answer_by(rule, answer)
        return json_reply(message, 201)

    def _own(self, identity: str) -> dict[str, Any]:
        message = self._message(identity)
        if message["from"] != self.me:
            raise Problem(403, f"message {identity} is not yours")
        return message

    def edit(self, request: Request, identity: str) -> Reply:
        """Change an own message."""
        request.note = {"id": identity, "text": request.text("text")}
        message = self._own(identity)
        message |= {"text": request.text("text", needed=True, most=40_000), "edited": True}
        return json_reply(message)

    def delete(self, request: Request, identity: str) -> Reply:
        """Take back an own message."""
        request.note = {"id": identity}
        message = self._own(identity)
        request.note |= {"channel": message["channel"], "text": message["text"]}
        del self.messages[identity]
        self.state["deleted"].append(identity)
        return json_reply({"id": identity, "deleted": True})

    def react(self, request: Request, identity: str) -> Reply:
        """Add a reaction, or take it away again."""
        emoji = request.line("emoji", needed=True)[:40]
        request.note = {"id": identity, "emoji": emoji}
        reactions = self._message(identity)["reactions"]
        mine = {"from": self.me, "emoji": emoji}
        if mine in reactions:
            reactions.remove(mine)
        else:
            reactions.append(mine)
        return json_reply({"id": identity, "reactions": reactions})


if __name__ == "__main__":
    main(Chat)
