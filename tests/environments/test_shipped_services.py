"""The shipped services as a client sees them, and what they leave behind."""

import base64
import json
import socket
import threading
import time
from pathlib import Path

import pytest
from pydantic import JsonValue
from service_player import SERVICES, Answer, place, playing

from uniclaw.assets import Assets
from uniclaw.suites.services import service_spec, shipped

NAMES = ("calendar", "chat", "contacts", "docs", "forum", "mail", "shop", "tickets")

MAIL: JsonValue = {
    "now": "2026-03-02T09:00",
    "account": {"name": "Li Na", "address": "li@corp.example"},
    "folders": ["projects"],
    "messages": [
        {
            "id": "budget",
            "from": "Bo Chen <bo@corp.example>",
            "cc": ["ann@corp.example"],
            "subject": "预算 Q2",
            "body": "The figures are attached.\n请查收。",
            "attachments": [
                {"name": "q2.csv", "text": "a,b\n1,2\n"},
                {"file": "logo.bin", "type": "image/x-logo"},
            ],
        },
        {"from": "spam@bad.example", "subject": "Win <script>", "body": "x", "folder": "spam"},
    ],
    "rules": [
        {
            "id": "bo-number",
            "when": {"to": "bo@corp", "body": "which (figure|number)"},
            "reply": {"body": "It is 4711."},
        },
        {
            "id": "bo-later",
            "when": {"to": "bo@corp"},
            "times": "always",
            "after_rounds": 1,
            "reply": {"body": "I was out."},
        },
        {
            "id": "late",
            "when": {"subject": "late"},
            "from_round": 2,
            "reply": {"from": "ann@corp.example", "body": "Now."},
        },
    ],
    "changes": {
        "1": [
            {"do": "now", "to": "2026-03-03T08:00"},
            {"do": "receive", "id": "news", "from": "ann@corp.example", "subject": "News"},
        ],
        "2": [{"do": "remove", "id": "news"}],
    },
}


@pytest.mark.parametrize("name", NAMES)
def test_every_service_runs_without_a_seed_and_says_what_it_is(name: str, tmp_path: Path) -> None:
    with playing(tmp_path, name) as played:
        assert played.get("/health").text == "ok\n"
        answer = played.get("/")
        assert answer.status == 200
        assert "Date" not in answer.headers
        assert played.get("/state/audit.jsonl").status == 404
        assert played.get("/../state/audit.jsonl").status == 404
        assert played.get("/%2e%2e/state/state.json").status == 404
        assert played.ask("DELETE", "/").status == 405
        assert played.state("service") == name
        assert [e["n"] for e in played.audit()] == list(range(1, 6))
        assert [e["ok"] for e in played.audit()] == [True, False, False, False, False]


@pytest.mark.parametrize("name", NAMES)
def test_its_description_and_the_shared_code_are_what_the_engine_needs(name: str) -> None:
    assets = Assets(roots=(SERVICES.parents[1],))
    assert shipped(assets) == NAMES
    spec = service_spec(name, program_home=SERVICES / name, seed=Path("/nonexistent"))
    assert spec.files["/service/program/servicekit.py"] == SERVICES / "common" / "servicekit.py"
    program = (SERVICES / name / "program" / "main.py").read_text("utf-8")
    assert f"port = {spec.port}\n" in program
    assert f"# {name}" in (SERVICES / name / "SEED.md").read_text("utf-8").lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_its_seed_format_is_a_seed(name: str, tmp_path: Path) -> None:
    document = (SERVICES / name / "SEED.md").read_text("utf-8")
    example = json.loads(document.partition("```json\n")[2].partition("\n```")[0])
    with playing(tmp_path, name, example) as played:
        played.round(3)
        assert played.get("/").status == 200
        skipped = [e for e in played.audit() if e["actor"] == "service" and not e["ok"]]
        assert skipped == []


BROKEN: list[tuple[str, JsonValue, str]] = [
    ("mail", {"mesages": []}, "seed.json.mesages: unknown"),
    ("mail", {"messages": [{"subject": "x"}]}, "messages[0]: from: is missing"),
    ("mail", {"rules": [{"when": {"to": "("}, "reply": {}}]}, "rules[0].when.to: is no regex"),
    ("mail", {"rules": [{"when": {"too": "x"}, "reply": {}}]}, "rules[0].when.too: unknown"),
    ("mail", {"rules": [{"when": {}}]}, "rules[0]: has neither"),
    ("mail", {"messages": [{"from": "a@b", "attachments": [{"file": "../x"}]}]}, "attachments"),
    ("mail", {"now": "tomorrow"}, "seed.json.now: expected a time"),
    ("mail", {"language": "fr"}, "seed.json.language: expected one of en, zh"),
    ("mail", {"changes": {"0": []}}, "changes.0: expected the number of a round"),
    ("mail", {"changes": {"1": [{"do": "fly"}]}}, "changes.1[0].do: 'fly' is none of"),
    ("mail", {"changes": {"1": [{"do": "remove", "id": "x"}]}}, "changes.1[0]: there is no"),
    ("mail", [], "expected an object"),
    ("calendar", {"timezone": "Moon/Base"}, "unknown zone"),
    ("calendar", {"events": [{"title": "x"}]}, "events[0]: `start` is missing"),
    ("chat", {"messages": [{"from": "x", "text": "y"}]}, "messages[0]: there is no user 'x'"),
    ("contacts", {"contacts": [{"notes": "x"}]}, "contacts[0]: name: is missing"),
    ("contacts", {"rules": [{"when": {}}]}, "has no rules"),
    ("shop", {"products": [{"id": "a", "price": "1.999"}]}, "products[0]: price: expected"),
    ("forum", {"threads": [{"board": "x"}]}, "threads[0]: there is no board 'x'"),
    ("tickets", {"tickets": [{"title": "x", "state": "?"}]}, "tickets[0]: `state`: expected"),
    ("docs", {"pages": [{"slug": "x", "version": "9"}]}, "pages[0]: there is no version '9'"),
]


@pytest.mark.parametrize(("name", "seed", "said"), BROKEN)
def test_a_broken_seed_is_named_and_ends_the_program_with_2(
    name: str, seed: JsonValue, said: str, tmp_path: Path
) -> None:
    code, message = place(tmp_path, name, seed).refusal()
    assert code == 2
    assert said in message
    assert "Traceback" not in message


# Mail.


@pytest.fixture
def mail_root(tmp_path: Path) -> Path:
    (tmp_path / "seed").mkdir()
    (tmp_path / "seed" / "logo.bin").write_bytes(b"\x89\x00\xff")
    return tmp_path


def test_mail_is_listed_read_searched_and_filed(mail_root: Path) -> None:
    with playing(mail_root, "mail", MAIL) as mail:
        assert "POST   /send" in mail.get("/").text
        folders = mail.get("/folders").at("folders", 0)
        assert folders == {"name": "inbox", "total": 1, "unread": 1}
        assert mail.get("/messages?unread=true").at("messages", 0, "subject") == "预算 Q2"
        assert mail.get("/messages/budget").at("attachments", 1, "name") == "logo.bin"
        assert mail.get("/messages/budget/attachments").at("attachments", 0, "size") == 8
        assert mail.get("/messages/budget/attachments/logo.bin").body == b"\x89\x00\xff"
        assert mail.get("/messages/budget/attachments/nope").status == 404
        assert mail.get("/messages?unread=true").at("total") == 0
        assert mail.get("/search?q=%E9%A2%84%E7%AE%97").at("total") == 1
        assert mail.get("/search?q=figures%20q2.csv&folder=inbox").at("total") == 1
        assert mail.get("/search").status == 400
        assert mail.get("/messages?folder=nope").status == 404
        assert mail.post("/messages/budget/move", folder="projects").status == 200
        assert mail.post("/messages/budget/move", folder="sent").status == 409
        assert mail.ask("PATCH", "/messages/budget", {"flagged": True}).at("flagged") is True
        assert mail.post("/folders", name="旅行").status == 201
        assert mail.post("/folders", name="旅行").status == 409
        assert mail.post("/folders", name="../x").status == 400
        assert mail.ask("DELETE", "/messages/budget").at("permanent") is False
        assert mail.ask("DELETE", "/messages/budget").at("permanent") is True
        assert mail.get("/messages/budget").status == 404
        assert mail.state("deleted") == ["budget"]
        assert mail.state("counts", "mail.delete") == 2
        read = next(e for e in mail.audit() if e["action"] == "mail.read")
        assert read["subject"] == "预算 Q2"


def test_mail_is_sent_answered_forwarded_and_drafted(mail_root: Path) -> None:
    with playing(mail_root, "mail", MAIL) as mail:
        attached: JsonValue = [{"name": "../x.txt", "base64": base64.b64encode(b"hi").decode()}]
        sent = mail.post("/send", to="Zoe <zoe@x.example>", subject="Hi", attachments=attached)
        assert sent.status == 201
        assert mail.state("messages", str(sent.at("id")), "attachments", 0, "name") == "x.txt"
        assert mail.post("/send", subject="x").status == 400
        assert mail.post("/send", to="nobody").status == 400
        assert (
            mail.post("/send", to="a@b", attachments=[{"name": "x", "base64": "?"}]).status == 400
        )
        reply = mail.post("/messages/budget/reply", body="Thanks", all=True)
        answered = mail.get(f"/messages/{reply.at('id')}")
        assert answered.at("to") == ["Bo Chen <bo@corp.example>"]
        assert answered.at("cc") == ["ann@corp.example"]
        assert answered.at("subject") == "Re: 预算 Q2"
        assert mail.get("/threads/budget").at("messages", 1, "in_reply_to") == "budget"
        forward = mail.post("/messages/budget/forward", to="zoe@x.example", body="FYI")
        assert mail.state("messages", str(forward.at("id")), "attachments", 0, "name") == "q2.csv"
        draft = mail.form("/drafts", to="a@b.example, c@d.example", subject="plan")
        name = str(draft.at("id"))
        assert mail.get("/drafts").at("drafts", 0, "to", 1) == "c@d.example"
        assert mail.ask("PATCH", f"/drafts/{name}", {"body": "新"}).at("body") == "新"
        assert mail.post(f"/drafts/{name}/send").status == 201
        assert mail.post(f"/drafts/{name}/send").status == 409
        assert mail.state("sent_to", 0) == "zoe@x.example"
        mine = mail.post("/send", to="li@corp.example", subject="note to self")
        assert mail.get("/search?q=self&folder=inbox").at("total") == 1
        assert mine.status == 201


def test_correspondents_answer_by_the_first_rule_once_and_from_its_round_on(
    mail_root: Path,
) -> None:
    with playing(mail_root, "mail", MAIL) as mail:
        mail.post("/send", to="bo@corp.example", subject="Q", body="Which figure is it?")
        mail.post("/send", to="bo@corp.example", subject="late", body="which figure, again?")
        answers = mail.get("/messages?from=bo@").at("messages")
        assert [a["preview"] for a in answers if isinstance(a, dict)] == [  # type: ignore[union-attr]
            "It is 4711.",
            "The figures are attached. 请查收。",
        ]
        mail.round(1)
        assert mail.get("/messages").at("messages", 0, "preview") == "I was out."
        mail.round(2)
        mail.post("/send", to="ann@corp.example", subject="late")
        assert mail.get("/messages?from=ann").at("messages", 0, "subject") == "Re: late"
        assert mail.state("fired") == {"bo-number": 1, "bo-later": 1, "late": 1}
        answered = [e for e in mail.audit() if e.get("rule") == "bo-later"]
        assert [(e["actor"], e["action"], e["round"]) for e in answered] == [
            ("service", "change.receive", 1)
        ]


def test_round_changes_happen_once_each_also_over_a_restart(mail_root: Path) -> None:
    with playing(mail_root, "mail", MAIL) as mail:
        mail.get("/")
        mail.round(1)
        assert mail.get("/messages/news").at("date") == "2026-03-03T08:00"
        mail.get("/")
        mail.end(kill=True)
        mail.begin()
        assert mail.get("/messages/news").at("read") is True
        mail.round(5)
        mail.get("/health")
        assert mail.get("/messages/news").status == 404
        changes = [e for e in mail.audit() if e["actor"] == "service"]
        assert [(e["round"], e["action"]) for e in changes] == [
            (1, "change.now"),
            (1, "change.receive"),
            (5, "change.remove"),
        ]
        assert mail.state("round") == 5


def test_what_the_agent_removed_first_is_a_change_that_is_noted_as_impossible(
    mail_root: Path,
) -> None:
    with playing(mail_root, "mail", MAIL) as mail:
        mail.round(1)
        mail.ask("DELETE", "/messages/news")
        mail.ask("DELETE", "/messages/news")
        mail.round(2)
        mail.get("/health")
        last = mail.audit()[-1]
        assert (last["action"], last["ok"]) == ("change.remove", False)


def test_a_torn_last_line_of_the_audit_is_closed_and_counting_goes_on(mail_root: Path) -> None:
    played = place(mail_root, "mail", MAIL)
    (mail_root / "state" / "audit.jsonl").write_text('{"n": 1}\n{"n": 2, "ac', encoding="utf-8")
    played.begin()
    played.get("/")
    played.end()
    lines = (mail_root / "state" / "audit.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[2])["n"] == 3


# Calendar, chat, contacts.


def test_the_calendar_knows_conflicts_free_times_and_who_comes(tmp_path: Path) -> None:
    seed: JsonValue = {
        "owner": {"name": "Li", "email": "li@x.example"},
        "timezone": "Europe/Berlin",
        "people": [
            {
                "email": "bo@x.example",
                "busy": [{"start": "2026-03-02T10:00", "end": "2026-03-02T11:00"}],
                "hours": {"start": "09:00", "end": "17:00"},
            },
            {"email": "ann@x.example"},
        ],
        "events": [
            {
                "id": "review",
                "title": "Review",
                "start": "2026-03-02T14:00",
                "end": "2026-03-02T15:00",
                "organizer": "ann@x.example",
                "attendees": [{"email": "li@x.example"}],
            }
        ],
        "rules": [
            {
                "when": {"attendee": "ann", "weekday": "Friday"},
                "times": "always",
                "reply": {"answer": "declined", "comment": "不在"},
            }
        ],
        "changes": {
            "1": [
                {"do": "busy", "email": "ann@x.example", "start": "2026-03-04", "end": "2026-03-05"}
            ]
        },
    }
    people: JsonValue = ["bo@x.example", "ann@x.example", "out@y.example"]
    with playing(tmp_path, "calendar", seed) as calendar:

        def meet(start: str, end: str, **more: JsonValue) -> Answer:
            return calendar.post("/events", title="Plan", start=start, end=end, **more)

        def answers(identity: object) -> dict[str, str]:
            found = calendar.state("events", str(identity), "attendees")
            assert isinstance(found, dict)
            return {k.partition("@")[0]: v["answer"] for k, v in found.items()}  # type: ignore[index, misc]

        clash = meet("2026-03-02T10:30", "2026-03-02T14:30", attendees=people)
        assert clash.at("conflicts") == ["review"]
        assert answers(clash.at("id")) == {"bo": "declined", "ann": "declined", "out": "pending"}
        moved = {"start": "2026-03-02T08:00Z", "end": "2026-03-02T09:00+00:00"}
        after = calendar.ask("PATCH", f"/events/{clash.at('id')}", {**moved})
        assert after.at("start") == "2026-03-02T09:00"
        assert answers(clash.at("id")) == {"bo": "accepted", "ann": "accepted", "out": "pending"}
        friday = meet("2026-03-06T16:30", "2026-03-06T18:00", attendees=people)
        assert answers(friday.at("id")) == {"bo": "declined", "ann": "declined", "out": "pending"}
        assert calendar.get(f"/events/{friday.at('id')}").at("attendees", 1, "comment") == "不在"
        busy = calendar.get(
            "/freebusy?people=bo@x.example,li@x.example&from=2026-03-02&to=2026-03-02"
        )
        assert busy.at("busy", "bo@x.example", 1, "start") == "2026-03-02T10:00"
        assert "title" not in busy.text
        assert calendar.get("/freebusy?people=who@x.example").status == 404
        assert (
            calendar.get("/events?from=2026-03-02&to=2026-03-02&q=rev").at("events", 0, "id")
            == "review"
        )
        assert calendar.post("/events/review/respond", answer="accepted").status == 200
        assert calendar.post("/events/review/respond", answer="perhaps").status == 400
        assert calendar.ask("DELETE", "/events/review").status == 403
        assert (
            calendar.post(f"/events/{friday.at('id')}/invite", attendees="zoe@z.example").status
            == 200
        )
        assert calendar.ask("DELETE", f"/events/{friday.at('id')}").at("status") == "cancelled"
        assert calendar.ask("PATCH", f"/events/{friday.at('id')}", {"title": "x"}).status == 409
        assert meet("2026-03-02T10:00", "2026-03-02T09:00").status == 400
        assert meet("soon", "later").status == 400
        calendar.round(1)
        wednesday = meet("2026-03-04T10:00", "2026-03-04T11:00", attendees="ann@x.example")
        assert answers(wednesday.at("id")) == {"ann": "declined"}
        assert calendar.get("/people").status == 200
        made = [e for e in calendar.audit() if e["action"] == "calendar.create" and e["ok"]]
        assert made[0]["attendees"] == people


def test_a_calendar_may_refuse_what_conflicts(tmp_path: Path) -> None:
    event: dict[str, JsonValue] = {
        "title": "A",
        "start": "2026-03-02T10:00",
        "end": "2026-03-02T11:00",
    }
    with playing(tmp_path, "calendar", {"conflicts": "refuse", "events": [event]}) as calendar:
        answer = calendar.ask("POST", "/events", {**event})
        assert (answer.status, answer.at("conflicts")) == (409, ["e1"])
        assert calendar.state("created") == []


def test_the_chat_has_channels_threads_direct_messages_and_people_who_answer(
    tmp_path: Path,
) -> None:
    seed: JsonValue = {
        "user": "li",
        "users": [{"id": "bo", "name": "Bo"}, {"id": "ann"}],
        "channels": [
            {"id": "general"},
            {"id": "board", "members": ["ann"], "private": True},
            {"id": "random", "members": ["bo"]},
        ],
        "messages": [
            {"id": "hello", "channel": "general", "from": "bo", "text": "大家好"},
            {"id": "secret", "channel": "board", "from": "ann", "text": "secret"},
        ],
        "rules": [
            {"when": {"to": "^bo$", "text": "code"}, "reply": {"text": "It is 42."}},
            {
                "when": {"channel": "general", "mention": "ann"},
                "reply": {"from": "ann", "text": "yes?", "thread": True},
            },
        ],
        "changes": {"1": [{"do": "post", "dm": "bo", "from": "bo", "text": "ping"}]},
    }
    with playing(tmp_path, "chat", seed) as chat:
        assert chat.get("/channels/general/messages").at("messages", 0, "text") == "大家好"
        assert chat.get("/channels/board/messages").status == 403
        assert chat.get("/messages/secret").status == 403
        assert chat.get("/search?q=secret").at("total") == 0
        assert chat.post("/channels/random/messages", text="x").status == 403
        assert chat.post("/channels/random/join").status == 200
        assert chat.post("/channels/random/messages", text="x").status == 201
        asked = chat.post("/channels/general/messages", text="@ann 你在吗?")
        thread = chat.get(f"/messages/{asked.at('id')}/thread").at("messages", 1)
        assert isinstance(thread, dict)
        assert (thread["from"], thread["text"]) == ("ann", "yes?")
        assert chat.post("/channels/general/messages", text="hi", thread="hello").status == 201
        assert chat.post("/channels/random/messages", text="hi", thread="hello").status == 409
        assert chat.post("/dm/bo", text="the code please").status == 201
        assert chat.get("/dm/bo").at("messages", 1, "text") == "It is 42."
        assert chat.post("/dm/nobody", text="x").status == 404
        own = str(asked.at("id"))
        assert chat.ask("PATCH", f"/messages/{own}", {"text": "new"}).at("edited") is True
        assert chat.ask("PATCH", "/messages/hello", {"text": "new"}).status == 403
        assert chat.post("/messages/hello/reactions", emoji="👍").at("reactions", 0, "from") == "li"
        assert chat.ask("DELETE", f"/messages/{own}").status == 200
        assert chat.post("/channels", name="#新项目", members=["bo"]).status == 201
        assert chat.post("/channels", name="a b").status == 400
        chat.round(1)
        assert chat.get("/dm/bo?limit=1").at("messages", 0, "text") == "ping"
        assert chat.get("/channels").at("direct_messages_with") == ["bo"]
        assert chat.get("/users").at("you") == "li"
        assert "chat.dm" in chat.actions()


def test_contacts_are_found_changed_and_merged(tmp_path: Path) -> None:
    seed: JsonValue = {
        "contacts": [
            {"id": "a", "name": "王芳", "emails": ["f@x.example"], "tags": ["vip"]},
            {"id": "b", "name": "Wang Fang", "phones": ["1"], "organization": "ＡＢＣ"},
        ],
        "changes": {"1": [{"do": "contact", "id": "a", "title": "CEO"}]},
    }
    with playing(tmp_path, "contacts", seed) as contacts:
        assert contacts.get("/search?q=abc").at("contacts", 0, "id") == "b"
        assert contacts.get("/contacts?tag=vip").at("total") == 1
        new = contacts.post("/contacts", name="Zoe", emails=["z@x.example"])
        assert (new.status, new.at("id")) == (201, "c1")
        assert contacts.post("/contacts", emails=["z@x.example"]).status == 400
        assert contacts.post("/contacts", name="Q", emails=["q"]).status == 400
        assert contacts.post("/contacts", name="Q", mail="q").status == 400
        assert contacts.ask("PATCH", "/contacts/c1", {"notes": "old friend"}).status == 200
        assert contacts.post("/contacts/merge", keep="a", merge=["a"]).status == 400
        merged = contacts.post("/contacts/merge", keep="a", merge=["b", "c1"])
        assert merged.at("emails") == ["f@x.example", "z@x.example"]
        assert merged.at("organization") == "ＡＢＣ"
        gone = contacts.get("/contacts/b")
        assert (gone.status, gone.at("merged_into")) == (410, "a")
        contacts.round(1)
        assert contacts.get("/contacts/a").at("title") == "CEO"
        assert contacts.ask("DELETE", "/contacts/a").status == 200
        assert contacts.state("merged") == {"b": "a", "c1": "a"}


# Sites.


def test_the_shop_sells_what_is_in_stock_at_todays_price(tmp_path: Path) -> None:
    seed: JsonValue = {
        "products": [
            {
                "id": "pen",
                "name": "Pen <b>",
                "price": "1.50",
                "category": "office",
                "stock": 3,
                "attributes": {"colour": "蓝"},
                "reviews": [{"author": "x", "stars": 4, "text": "<script>alert(1)</script>"}],
            },
            {"id": "desk", "name": "Desk", "price": 200, "stock": 1},
        ],
        "shipping": [{"id": "post", "price": "4.90", "free_from": "50"}],
        "coupons": [{"code": "TEN", "percent": 10, "min_total": "3"}],
        "changes": {
            "1": [
                {"do": "product", "id": "pen", "price": "2.00"},
                {"do": "order", "id": "o1", "status": "shipped"},
            ]
        },
    }
    address = {"name": "Li", "email": "li@x.example", "address": "A 1", "city": "北京"}
    address |= {"postcode": "1", "country": "CN", "shipping": "post", "payment": "invoice"}
    with playing(tmp_path, "shop", seed) as shop:
        page = shop.get("/product/pen").text
        assert "<script" not in page
        assert "Pen &lt;b&gt;" in page
        assert '<label for="quantity">' in page
        assert shop.get("/checkout").status == 409
        added = shop.form("/cart/add", product="pen", quantity="2")
        assert (added.status, added.headers["Location"]) == (303, "/cart")
        assert shop.form("/cart/add", product="pen", quantity="2").status == 409
        assert shop.form("/cart/add", product="none").status == 404
        assert shop.form("/cart/update", product="pen", quantity="-1").status == 400
        assert shop.form("/cart/coupon", code="nope").status == 409
        assert shop.form("/cart/coupon", code="ten").status == 303
        assert '<dd id="total">2.70 EUR</dd>' in shop.get("/cart").text
        refused = shop.form("/checkout", **{**address, "email": "li", "city": ""})
        assert refused.status == 422
        assert "City: is missing" in refused.text
        assert 'value="A 1"' in refused.text
        placed = shop.form("/checkout", **address)
        assert (placed.status, placed.headers["Location"]) == (303, "/orders/o1")
        assert shop.state("orders", "o1", "total_cents") == 270 + 490
        assert shop.state("products", "pen", "stock") == 1
        assert "北京" in shop.get("/orders/o1").text
        assert shop.get("/api/orders/o1").at("items", 0, "quantity") == 2
        assert shop.get("/api/products?max=100").at("products", 0, "price") == "1.50"
        assert shop.get("/api/products?q=%E8%93%9D&sort=-price").at("total") == 1
        assert shop.get("/search?sort=colour").status == 400
        assert shop.get("/category/office").status == 200
        assert shop.post("/api/cart", product="desk").at("total_cents") == 20000
        assert shop.form("/cart/remove", product="desk").status == 303
        shop.round(1)
        assert shop.get("/api/products/pen").at("price") == "2.00"
        assert shop.form("/orders/o1/cancel").status == 409
        assert shop.get("/orders").status == 200
        order = next(e for e in shop.audit() if e["action"] == "shop.order")
        assert (order["items"], order["total_cents"]) == ({"pen": 2}, 760)
        assert "shop.checkout_refused" in shop.actions()


def test_an_order_that_is_cancelled_gives_its_goods_back(tmp_path: Path) -> None:
    seed: JsonValue = {
        "language": "zh",
        "user": {"name": "李", "email": "li@x.example"},
        "products": [{"id": "pen", "price": "1", "stock": 1}],
    }
    with playing(tmp_path, "shop", seed) as shop:
        shop.form("/cart/add", product="pen")
        form = shop.get("/checkout").text
        assert 'value="李"' in form
        assert "提交订单" in form
        fields = {"name": "李", "email": "li@x.example", "address": "a", "city": "b"}
        shop.form(
            "/checkout",
            **fields,
            postcode="1",
            country="CN",
            shipping="standard",
            payment="invoice",
        )
        assert shop.state("products", "pen", "stock") == 0
        assert shop.form("/orders/o1/cancel").status == 303
        assert shop.state("products", "pen", "stock") == 1


def test_the_forum_takes_threads_and_posts_and_its_people_answer(tmp_path: Path) -> None:
    posts: JsonValue = [{"author": "bo", "text": f"post {i}"} for i in range(25)]
    seed: JsonValue = {
        "name": "讨论区",
        "user": {"id": "li", "name": "Li"},
        "users": [{"id": "bo", "name": "Bo"}],
        "boards": [{"id": "help", "name": "Help"}],
        "threads": [
            {"id": "long", "board": "help", "title": "Long", "posts": posts},
            {
                "id": "shut",
                "board": "help",
                "title": "Shut",
                "locked": True,
                "posts": [{"id": "end", "author": "bo", "text": "over"}],
            },
        ],
        "rules": [{"when": {"text": "thanks"}, "reply": {"author": "bo", "text": "不客气"}}],
        "changes": {"1": [{"do": "lock", "thread": "long"}, {"do": "remove_post", "id": "end"}]},
    }
    with playing(tmp_path, "forum", seed) as forum:
        assert "讨论区" in forum.get("/").text
        assert 'rel="next"' in forum.get("/thread/long").text
        assert "post 24" in forum.get("/thread/long?page=2").text
        assert forum.get("/thread/long?page=3").status == 404
        made = forum.form("/board/help/new", title="<i>New", text="Hello\n& goodbye")
        assert made.headers["Location"] == "/thread/t1"
        assert "&lt;i&gt;New" in forum.get("/thread/t1").text
        assert forum.form("/board/help/new", title="", text="x").status == 400
        replied = forum.form("/thread/long/reply", text="Thanks a lot")
        assert replied.headers["Location"].startswith("/thread/long?page=2#p")
        assert forum.get("/api/threads/long").at("posts", 26, "text") == "不客气"
        assert forum.form("/thread/shut/reply", text="x").status == 403
        own = replied.headers["Location"].partition("#")[2]
        assert forum.form(f"/post/{own}/edit", text="edited").status == 303
        assert forum.form("/post/end/edit", text="edited").status == 403
        assert forum.form("/post/end/like").status == 303
        assert forum.form("/post/end/report", reason="骚扰").status == 200
        assert forum.form(f"/post/{own}/delete").status == 303
        assert forum.get("/api/threads/long").at("posts", 25, "deleted") is True
        assert "<p><em>This post was deleted.</em></p>" in forum.get("/thread/long?page=2").text
        assert ">edited<" not in forum.get("/thread/long?page=2").text
        assert forum.get("/user/bo").status == 200
        assert forum.get("/board/help").status == 200
        assert forum.get("/api/boards/help").at("threads", 0, "id") == "long"
        assert forum.get("/search?q=goodbye&author=li").text.count("<li>") == 1
        assert forum.post("/api/threads", board="help", title="T", text="x").status == 201
        assert forum.post("/api/threads/t2/posts", text="y").status == 201
        forum.round(1)
        assert forum.form("/thread/long/reply", text="x").status == 403
        assert forum.state("posts", "end", "deleted") is True
        assert forum.state("posts", "end", "reports") == ["骚扰"]
        written = forum.state("written")
        assert isinstance(written, list)
        assert len(written) == 4


def test_tickets_are_filtered_commented_assigned_and_moved_on(tmp_path: Path) -> None:
    seed: JsonValue = {
        "user": {"id": "li", "name": "Li"},
        "users": [{"id": "bo", "name": "Bo"}, {"id": "kim", "name": "Kim"}],
        "transitions": {"open": ["in_progress"], "in_progress": ["resolved", "open"]},
        "tickets": [
            {
                "id": "T-7",
                "title": "Broken",
                "reporter": "kim",
                "priority": "urgent",
                "labels": ["ui"],
            },
            {"title": "Slow", "assignee": "bo", "created": "2026-01-01"},
        ],
        "rules": [
            {
                "when": {"ticket": "T-7", "comment": "version"},
                "reply": {"text": "3.1"},
                "then": [{"do": "set", "ticket": "T-7", "priority": "low"}],
            }
        ],
        "changes": {"1": [{"do": "comment", "ticket": "T-1", "author": "bo", "text": "更慢了"}]},
    }
    with playing(tmp_path, "tickets", seed) as tickets:
        assert tickets.get("/api/tickets?assignee=none").at("tickets", 0, "id") == "T-7"
        assert tickets.get("/api/tickets?label=ui&state=open&priority=urgent").at("total") == 1
        assert tickets.get("/?q=slow&sort=priority").text.count("T-1") > 0
        assert '<label for="assignee">' in tickets.get("/ticket/T-7").text
        assert (
            tickets.form("/ticket/T-7/comment", text="which version?", internal="true").status
            == 303
        )
        assert tickets.state("tickets", "T-7", "priority") == "urgent"
        assert tickets.form("/ticket/T-7/comment", text="Which version?").status == 303
        assert tickets.get("/api/tickets/T-7").at("comments", 2, "author") == "kim"
        assert tickets.state("tickets", "T-7", "priority") == "low"
        assert tickets.form("/ticket/T-7/assign", assignee="bo").status == 303
        assert tickets.form("/ticket/T-7/assign", assignee="who").status == 404
        assert tickets.form("/ticket/T-7/state", state="resolved").status == 409
        assert tickets.form("/ticket/T-7/state", state="in_progress", comment="开始").status == 303
        assert tickets.form("/ticket/T-7/state", state="??").status == 400
        assert tickets.form("/ticket/T-7/priority", priority="high").status == 303
        assert tickets.form("/ticket/T-7/labels", labels="ui, crash").status == 303
        assert tickets.form("/ticket/T-7/link", kind="duplicate", other="T-1").status == 303
        assert tickets.form("/ticket/T-7/link", kind="duplicate", other="T-7").status == 400
        made = tickets.form("/new", title="新工单", description="d", labels="a")
        assert made.headers["Location"] == "/ticket/T-2"
        changed = tickets.ask(
            "PATCH", "/api/tickets/T-2", {"state": "in_progress", "labels": ["x"]}
        )
        assert changed.at("labels") == ["x"]
        assert tickets.ask("PATCH", "/api/tickets/T-2", {"title": "x"}).status == 400
        assert tickets.post("/api/tickets", title="api").status == 201
        assert tickets.post("/api/tickets/T-2/comments", text="x").status == 201
        assert tickets.get("/new").status == 200
        tickets.round(1)
        assert "更慢了" in tickets.get("/ticket/T-1").text
        moves = tickets.state("tickets", "T-7", "history")
        assert isinstance(moves, list)
        assert {"round": 0, "actor": "agent", "field": "assignee", "from": "", "to": "bo"} in moves
        states = [e for e in tickets.audit() if e["action"] == "tickets.state" and e["ok"]]
        assert (states[0]["from"], states[0]["to"]) == ("open", "in_progress")


DOCS: JsonValue = {
    "versions": [
        {"id": "2.0", "status": "current"},
        {"id": "1.0", "status": "outdated", "banner": True},
    ],
    "pages": [
        {
            "slug": "install",
            "version": version,
            "title": "Install",
            "updated": "2025-01-01",
            "text": text,
        }
        for version, text in (
            ("2.0", "## Steps\n\n1. Run `pip <x>`\n2. See [limits](limits)\n\n```\na<b\n```"),
            ("1.0", "Old **way**. [evil](javascript:alert(1))\n\n| a | b |\n|---|---|\n| 1 | 2 |"),
        )
    ],
    "search_limit": 2,
    "changes": {"1": [{"do": "page", "slug": "install", "version": "2.0", "text": "新的"}]},
}


def test_the_documentation_has_versions_and_renders_small_markdown(tmp_path: Path) -> None:
    with playing(tmp_path, "docs", DOCS) as docs:
        assert 'href="/v/1.0"' in docs.get("/").text
        page = docs.get("/v/2.0/install").text
        assert "<li>Run <code>pip &lt;x&gt;</code></li>" in page
        assert '<a href="/v/2.0/limits">limits</a>' in page
        assert "<pre><code>a&lt;b</code></pre>" in page
        assert 'role="note"' not in page
        old = docs.get("/v/1.0/install").text
        assert "which is outdated" in old
        assert 'href="javascript' not in old
        assert "<th>a</th>" in old
        assert docs.get("/raw/1.0/install").text.startswith("# Install\n\nOld")
        assert docs.get("/v/3.0/install").status == 404
        assert docs.get("/api/pages?version=1.0").at("pages", 0, "slug") == "install"
        assert docs.get("/api/versions").status == 200
        sent = docs.form("/v/2.0/install/feedback", helpful="no", comment="缺")
        assert sent.headers["Location"] == "/v/2.0/install?thanks=1"
        assert docs.form("/v/2.0/install/feedback", helpful="?").status == 400
        docs.round(1)
        assert docs.get("/api/pages/2.0/install").at("text") == "新的"
        assert docs.state("read") == ["2.0/install", "1.0/install"]
        assert docs.state("feedback", 0, "comment") == "缺"


def test_a_search_budget_counts_pages_and_api_together_and_survives_a_restart(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, "docs", DOCS) as docs:
        assert "Searches left: 2 of 2" in docs.get("/search").text
        assert "Searches left: 1 of 2" in docs.get("/search?q=install").text
        assert docs.get("/api/search?q=way&version=1.0").at("searches_left") == 0
        docs.end()
        docs.begin()
        over = docs.get("/search?q=install")
        assert over.status == 429
        assert "The search budget is used up: 2 of 2 searches." in over.text
        assert docs.get("/api/search?q=x").at("limit") == 2
        assert docs.get("/v/2.0/install").status == 200
        assert docs.state("searches") == 2
        refused = [e["q"] for e in docs.audit() if e["status"] == 429]
        assert refused == ["install", "x"]


@pytest.mark.parametrize("name", ["shop", "forum", "tickets", "docs"])
def test_sites_speak_chinese_and_load_nothing_from_elsewhere(name: str, tmp_path: Path) -> None:
    with playing(tmp_path, name, {"language": "zh", "search_limit": 1}) as site:
        page = site.get("/").text
        assert '<html lang="zh">' in page
        assert "剩余搜索次数：1 / 1" in page
        assert "http" not in page
        assert "<script" not in page
        assert site.get("/search?q=x").status == 200
        assert "搜索次数已用完" in site.get("/search?q=x").text


# Hostile clients.


@pytest.mark.parametrize(
    ("raw", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b"[1]", "application/json", 400),
        (b'{"name": NaN}', "application/json", 400),
        (b'{"name": "\\ud800"}', "application/json", 400),
        (b'{"name": {"a": 1}}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"name": ' + b"[" * 100_000, "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"name=" + b"&x=1" * 1000, "application/x-www-form-urlencoded", 400),
        (b"--x", "multipart/form-data; boundary=x", 415),
        (b'{"name": "' + b"x" * 1_000_000 + b'"}', "application/json", 413),
        (b'{"name": "ok"}', "application/x-www-form-urlencoded", 201),
        ("name=名".encode(), "application/x-www-form-urlencoded", 201),
    ],
)
def test_bodies_that_are_none_are_refused(
    tmp_path: Path, raw: bytes, kind: str, status: int
) -> None:
    with playing(tmp_path, "contacts") as played:
        assert played.ask("POST", "/contacts", raw=raw, kind=kind).status == status
        assert played.get("/contacts").at("total") == int(status == 201)
        assert [e["ok"] for e in played.audit()] == [status == 201, True]


def raw_request(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.sendall(data)
        parts: list[bytes] = []
        while part := connection.recv(65536):
            parts.append(part)
        return b"".join(parts)


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", b" 431 "),
        (b"GET / HTTP/1.1\r\nContent-Length: -5\r\n\r\n", b" 400 "),
        (b"POST /send HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b" 411 "),
        (b"GET /%ff HTTP/1.1\r\n\r\n", b" 400 "),
        (b"GET /messages/..%2fstate HTTP/1.1\r\n\r\n", b" 404 "),
        (b"GET /messages/%00 HTTP/1.1\r\n\r\n", b" 404 "),
        (b"TRACE / HTTP/1.1\r\n\r\n", b" 405 "),
    ],
)
def test_requests_that_are_none_are_refused_and_the_next_one_is_served(
    tmp_path: Path, data: bytes, status: bytes
) -> None:
    with playing(tmp_path, "mail") as mail:
        assert status in raw_request(mail.port, data).split(b"\r\n")[0]
        assert mail.get("/health").status == 200


def test_slow_clients_hold_nobody_up(tmp_path: Path) -> None:
    with playing(tmp_path, "mail") as mail:
        held = [socket.create_connection(("127.0.0.1", mail.port)) for _ in range(70)]
        for connection in held:
            connection.sendall(b"POST /send HTTP/1.1\r\nContent-Length: 100\r\n\r\nx")
        begun = time.monotonic()
        assert mail.get("/").status == 200
        assert time.monotonic() - begun < 5
        for connection in held:
            connection.close()


def test_concurrent_requests_leave_one_whole_audit_line_each(tmp_path: Path) -> None:
    with playing(tmp_path, "contacts") as contacts:

        def work(worker: int) -> None:
            for number in range(15):
                contacts.post("/contacts", name=f"联系人 {worker}-{number}")

        workers = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        lines = contacts.audit()
        assert [e["n"] for e in lines] == list(range(1, 121))
        assert len({str(e["id"]) for e in lines}) == 120
        assert contacts.state("counts", "contacts.create") == 120
        assert contacts.get("/contacts").at("total") == 120


def test_a_flood_of_reads_is_counted_beyond_the_audits_limit_and_writes_still_show(
    tmp_path: Path,
) -> None:
    played = place(tmp_path, "contacts")
    filler = "".join(f'{{"n": {i}}}\n' for i in range(1, 80_001))
    (tmp_path / "state" / "audit.jsonl").write_text(filler, encoding="utf-8")
    played.begin()
    try:
        played.get("/contacts")
        played.get("/contacts")
        played.post("/contacts", name="seen")
        assert played.state("audit_dropped") == 2
        assert (played.audit()[-1]["n"], played.audit()[-1]["name"]) == (80_001, "seen")
    finally:
        played.end()


def test_an_entry_of_the_audit_stays_short_whatever_is_sent(tmp_path: Path) -> None:
    with playing(tmp_path, "contacts", {"contacts": [{"id": "a", "name": "A"}]}) as contacts:
        many: dict[str, JsonValue] = {f"{'k' * 900}{i}": 1 for i in range(900)}
        assert contacts.ask("PATCH", "/contacts/a", many).status == 400
        (entry,) = contacts.audit()
        assert (entry["action"], entry["id"], entry["cut"]) == ("contacts.update", "a", True)
        assert contacts.post("/contacts", name="A", notes="长" * 10_000).status == 201
        assert (tmp_path / "state" / "audit.jsonl").stat().st_size < 20_000


def test_a_state_that_would_be_too_large_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    with playing(tmp_path, "mail") as mail:
        body = "长" * 150_000
        codes = [mail.post("/send", to="a@b.example", body=body).status for _ in range(12)]
        assert codes[0] == 201
        assert codes[-1] == 507
        assert mail.state("counts", "mail.send") == codes.count(201)
        assert mail.get("/folders").status == 200


def test_the_programs_leave_nothing_behind_in_the_checkout() -> None:
    assert not list(SERVICES.rglob("__pycache__"))
