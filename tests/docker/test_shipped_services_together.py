"""One episode with all eight shipped services: used with curl, changed between rounds, judged."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from player import only, run
from pydantic import JsonValue
from suite_builder import write_task

from uniclaw.records import Outcome

pytestmark = pytest.mark.docker
SERVICES = Path(__file__).resolve().parents[2] / "environments" / "services"
SITE = "curl -sSf -o /dev/null -w '%{http_code} %{redirect_url}\\n' "
FIRST = f"""\
mkdir -p results
curl -sSf localhost:8025/ localhost:8026/ localhost:8027/ localhost:8028/ > results/help.txt
curl -sSf localhost:8025/send -d to=bo@corp.example -d 'body=When is the deadline?'
curl -sSf 'localhost:8025/messages?from=bo' > results/mail.json
#---
curl -sSf localhost:8026/events -d '{{"title": "计划", "start": "2026-03-03T10:00",
 "end": "2026-03-03T10:30", "attendees": ["bo@corp.example"]}}'
curl -sSf localhost:8027/dm/bo -d 'text=Which invoice?'
curl -sSf localhost:8028/contacts/merge -d keep=c-wang -d merge=c1
#---
{SITE} localhost:8031/cart/add -d product=pen-blue -d quantity=2
{SITE} localhost:8031/checkout -d name=Li -d email=li@corp.example -d address=A -d city=B \
 -d postcode=1 -d country=DE -d shipping=post -d payment=invoice
{SITE} localhost:8032/thread/glue/reply -d 'text=Yes, wood.'
{SITE} localhost:8033/ticket/T-7/assign -d assignee=bo
curl -sSf 'localhost:8034/search?q=limits' localhost:8034/v/2.1/limits > results/docs.html
#: All done.
"""
SECOND = f"""\
curl -sSf localhost:8025/messages/news localhost:8031/api/orders/o1 localhost:8032/thread/glue
{SITE} localhost:8033/ticket/T-7/comment -d 'text=Which version is it?'
curl -sSf localhost:8034/raw/2.1/limits > results/limits.txt
#: Done as well.
"""


def state(service: str, *asserts: JsonValue) -> JsonValue:
    return {
        "id": service,
        "weight": 0.125,
        "description": f"What stands in {service}.",
        "check": {"kind": "state", "service": service, "asserts": list(asserts)},
    }


def at(pointer: str, value: JsonValue, op: str = "equals") -> JsonValue:
    return {"pointer": pointer, "op": op, "value": value}


RUBRIC: Mapping[str, JsonValue] = {
    "threshold": 0.9,
    "checkpoints": [
        state(
            "mail",
            at("/state/sent_to", ["bo@corp.example"]),
            at("/state/fired/bo-confirms", 1),
            at("/state/counts/mail.read", 1),
        ),
        state(
            "calendar",
            at("/state/events/e1/title", "计划"),
            at("/state/events/e1/attendees/bo@corp.example/answer", "accepted"),
            at("/state/events/review/start", "2026-03-02T15:00"),
        ),
        state("chat", at("/state/counts/chat.dm", 1), at("/state/fired/rule-1", 1)),
        state("contacts", at("/state/merged", {"c1": "c-wang"})),
        state(
            "shop",
            at("/state/orders/o1/total_cents", 790),
            at("/state/orders/o1/status", "shipped"),
            at("/state/products/pen-blue/price_cents", 180),
        ),
        state("forum", at("/state/written", 1, "length"), at("/state/fired/rule-1", 1)),
        state(
            "tickets",
            at("/state/tickets/T-7/assignee", "bo"),
            at("/state/tickets/T-7/labels", "v3.1", "contains"),
            at("/state/tickets/T-7/priority", "urgent"),
        ),
        state(
            "docs",
            at("/state/searches", 1),
            at("/state/read", ["2.1/limits"]),
            at("/state/counts/docs.raw", 1),
        ),
    ],
}
NAMES = ("mail", "calendar", "chat", "contacts", "shop", "forum", "tickets", "docs")


def example(name: str) -> str:
    """The seed that its description shows."""
    document = (SERVICES / name / "SEED.md").read_text("utf-8")
    return document.partition("```json\n")[2].partition("\n```")[0]


def test_all_shipped_services_are_used_in_one_episode_and_judged_by_their_state(
    tmp_path: Path, unique: str
) -> None:
    suite = write_task(
        tmp_path, task={"services": list(NAMES)}, rounds=(FIRST, SECOND), rubric=RUBRIC
    )
    for name in NAMES:
        home = suite / "count" / "services" / name
        home.mkdir(parents=True)
        (home / "seed.json").write_text(example(name), encoding="utf-8")
    result = run(suite, tmp_path / "runs", environment="docker", run=unique)
    record = only(result)
    assert [r.verdict.score for r in record.rounds if r.verdict] == [0.375, 1.0], record.reason
    assert record.outcome is Outcome.PASS
    root = result.root / "episodes" / record.episode_id
    frozen = json.loads((root / "rounds" / "1" / "frozen.json").read_text("utf-8"))
    for probe in frozen["probes"]:
        document = json.loads(probe["stdout"])
        assert probe["exit_code"] == 0
        assert [e["n"] for e in document["audit"]] == list(range(1, len(document["audit"]) + 1))
        assert all(e["ok"] for e in document["audit"]), probe["id"]
        assert {e["round"] for e in document["audit"]} == {0, 1}
    (mail,) = (root / "evidence").glob("1/**/mail.json")
    assert (
        json.loads(mail.read_text("utf-8"))["messages"][0]["preview"] == "The deadline is Friday."
    )
    (page,) = (root / "evidence").glob("1/**/limits.txt")
    assert page.read_text("utf-8") == "# Limits\n\n25 files.\n"
