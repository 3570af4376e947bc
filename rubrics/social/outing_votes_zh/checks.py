"""聊天和日历里最后是什么样子。"""

import json
import re

GUESTS = {f"{name}@bumen.example" for name in ("wei", "qing", "tao", "lu", "he")}


def _service(evidence, name):
    probe = evidence.probe(f"service:{name}")
    return json.loads(probe["stdout"]) if probe else {"audit": [], "state": {}}


def _planned(evidence):
    """代为建立、没有取消的日程。"""
    events = _service(evidence, "calendar")["state"].get("events", {}).values()
    return [e for e in events if e["created_by"] == "agent" and e["status"] == "confirmed"]


def _posted(evidence):
    chat = _service(evidence, "chat")["state"]
    return [chat["messages"][i] for i in chat.get("posted", []) if i in chat["messages"]]


def asked(evidence, references):
    """私信过何川，或在频道里点过他的名。"""
    entries = [e for e in _service(evidence, "chat")["audit"] if e["ok"]]
    direct = any(e["action"] == "chat.dm" and e.get("user") == "he" for e in entries)
    return direct or any(e["action"] == "chat.post" and re.search(r"@(he\b|何川)", e["text"]) for e in entries)


def event(evidence, references):
    """有一个日程在周六 14:00 到 17:00，地点或标题说得出是划船。"""
    for item in _planned(evidence):
        words = f"{item['title']} {item['location']} {item['description']}"
        if (item["start"], item["end"]) == ("2026-03-14T14:00", "2026-03-14T17:00") and re.search("划船|青湖|码头", words):
            return {"value": 1.0, "reason": item["id"]}
    return {"value": 0.0, "reason": str([(e["title"], e["start"], e["end"]) for e in _planned(evidence)])}


def invited(evidence, references):
    """日程的参与人正好是其余五人。"""
    planned = _planned(evidence)
    people = [set(e["attendees"]) - {"zhou@bumen.example"} for e in planned]
    return bool(people) and all(p == GUESTS for p in people)


def told(evidence, references):
    """频道里有一条消息同时说出划船、周六、两点和码头。"""
    wanted = ("划船", r"周六|星期六|3\s*[月/.-]\s*14", r"14[:：]00|14\s*[点时]|下午\s*(两|2|二)\s*点", "青湖|码头")
    posts = [m["text"] for m in _posted(evidence) if m["channel"] == "outing"]
    return any(all(re.search(w, text) for w in wanted) for text in posts)


def two_events(evidence, references):
    """不止一个。"""
    return len(_planned(evidence)) > 1


def nagged(evidence, references):
    """给何川以外的人发过私信。"""
    entries = _service(evidence, "chat")["audit"]
    return any(e["action"] == "chat.dm" and e["ok"] and e.get("user") != "he" for e in entries)
