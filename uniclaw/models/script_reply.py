"""Which reply a script gives to a request: one pure function, for models and wire servers.

The decision depends on the content of the request and on nothing else.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import jinja2
from pydantic import JsonValue

from uniclaw.models.script import Script, ScriptedError, ScriptedReply, When, compile_template
from uniclaw.ports import ChatRequest, ImagePart, Message, TextPart, ToolCall, ToolSpec
from uniclaw.records import Usage


class Reply(NamedTuple):
    """What the script makes of one request."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    finish: Literal["stop", "tool_calls", "length", "refusal"]
    usage: Usage
    error: ScriptedError | None = None
    chunk_chars: int = 40
    chunk_delay_s: float = 0.0
    is_json: bool = False
    """`text` is a JSON answer: on the wire the arguments of the tool that was forced, if any."""


# --- reading a request -------------------------------------------------------------------

_ASIDES = ("<system-reminder>", "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>")
_RESULTS = ("<tool_result>",)


def speaker(text: str) -> Literal["system", "user", "tool"]:
    """Who speaks in a text of the user's messages.

    Programs put words of their own among the user's, and some the results of tools.
    """
    begin = text.lstrip()
    if begin.startswith(_ASIDES):
        return "system"
    return "tool" if begin.startswith(_RESULTS) else "user"


def by_speaker(
    parts: Sequence[TextPart | ImagePart],
) -> dict[Literal["system", "tool", "user"], list[TextPart | ImagePart]]:
    """The parts of a user's message by who speaks in them, the user last."""
    split: dict[Literal["system", "tool", "user"], list[TextPart | ImagePart]]
    split = {"system": [], "tool": [], "user": []}
    for part in parts:
        split[speaker(part.text) if isinstance(part, TextPart) else "user"].append(part)
    return split


def message_text(message: Message) -> str:
    """All that a message says: texts, and calls as `name {arguments}`."""
    calls = [f"{c.name} {json.dumps(c.arguments, ensure_ascii=False)}" for c in message.tool_calls]
    return "\n".join([message.text, *calls] if message.text else calls)


class _View(NamedTuple):
    """The parts of a request that rules look at."""

    system: str
    talk: tuple[Message, ...]
    users: tuple[str, ...]
    last: str
    results: tuple[str, ...]
    turn_results: tuple[str, ...]
    images: int


def _view(request: ChatRequest) -> _View:
    talk = tuple(m for m in request.messages if m.role != "system")
    last_user = max((i for i, m in enumerate(talk) if m.role == "user"), default=-1)
    return _View(
        system="\n".join(m.text for m in request.messages if m.role == "system"),
        talk=talk,
        users=tuple(m.text for m in talk if m.role == "user"),
        last=message_text(talk[-1]) if talk else "",
        results=tuple(m.text for m in talk if m.role == "tool"),
        turn_results=tuple(m.text for m in talk[last_user + 1 :] if m.role == "tool"),
        images=sum(isinstance(p, ImagePart) for m in talk for p in m.parts),
    )


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.DOTALL)


def _listed(value: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if value is None else (value,) if isinstance(value, str) else tuple(value)


def _match(when: When, request: ChatRequest, view: _View, model: str) -> dict[str, str] | None:
    """Named groups of all patterns when the conditions hold; otherwise None."""
    everything = "\n".join(message_text(m) for m in view.talk)
    searched = (
        (when.purpose, request.purpose),
        (when.model, model),
        (when.system, view.system),
        (when.first_user, view.users[0] if view.users else ""),
        (when.last_user, view.users[-1] if view.users else ""),
        (when.last, view.last),
        *((pattern, everything) for pattern in _listed(when.seen)),
    )
    groups: dict[str, str] = {}
    for pattern, text in searched:
        if pattern is None:
            continue
        found = _find(pattern, text)
        if found is None:
            return None
        groups.update({k: v or "" for k, v in found.groupdict().items()})
    if any(_find(pattern, everything) for pattern in _listed(when.not_seen)):
        return None
    return groups if _counts_hold(when, view) and _asks_hold(when, request, view) else None


def matches(when: When, request: ChatRequest, *, model: str = "") -> bool:
    """Whether all conditions hold."""
    return _match(when, request, _view(request), model) is not None


def _counts_hold(when: When, view: _View) -> bool:
    bounds = (
        (when.tool_results_at_least, len(view.results), when.tool_results_at_most),
        (
            when.turn_tool_results_at_least,
            len(view.turn_results),
            when.turn_tool_results_at_most,
        ),
        (when.user_messages_at_least, len(view.users), when.user_messages_at_most),
        (when.images_at_least, view.images, None),
    )
    return all(
        (least is None or value >= least) and (most is None or value <= most)
        for least, value, most in bounds
    )


def _asks_hold(when: When, request: ChatRequest, view: _View) -> bool:
    if when.last_role is not None and (not view.talk or view.talk[-1].role != when.last_role):
        return False
    if when.wants_json is not None and when.wants_json != (request.json_schema is not None):
        return False
    pattern = when.tool_offered
    return pattern is None or any(re.fullmatch(pattern, t.name) for t in request.tools)


# --- making a reply ----------------------------------------------------------------------


def template_values(
    request: ChatRequest, view: _View, groups: Mapping[str, str]
) -> dict[str, object]:
    """What templates may use.

    `groups` (named groups of the rule's patterns), `system`, `first_user`, `last_user`, `last`,
    `user_messages`, `tool_results`, `turn_tool_results` (lists of texts), `purpose`.
    """
    return {
        "groups": dict(groups),
        "system": view.system,
        "first_user": view.users[0] if view.users else "",
        "last_user": view.users[-1] if view.users else "",
        "last": view.last,
        "user_messages": list(view.users),
        "tool_results": list(view.results),
        "turn_tool_results": list(view.turn_results),
        "purpose": request.purpose,
    }


def _fill(value: JsonValue, values: Mapping[str, object] | None) -> JsonValue:
    if values is None:
        return value
    if isinstance(value, str):
        return compile_template(value).render(values)
    if isinstance(value, dict):
        return {key: _fill(part, values) for key, part in value.items()}
    if isinstance(value, list):
        return [_fill(part, values) for part in value]
    return value


def choose_reply(script: Script, request: ChatRequest, *, model: str = "") -> Reply:
    """The reply of the first rule that matches; pure.

    No matching rule, and a template that fails, are a 400 that says so.
    """
    view = _view(request)
    for rule in script.rules:
        groups = _match(rule.when, request, view, model)
        if groups is None:
            continue
        if rule.reply is None:
            return failure(request, rule.error or ScriptedError())
        given = _ended(script, rule.reply, request, view, model)
        try:
            return _reply(given, request, template_values(request, view, groups))
        except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError) as error:
            return failure(request, _refusal("template", f"template failed: {error}"))
    told = f"no rule for purpose {request.purpose!r}, last message {view.last[:200]!r}"
    return failure(request, _refusal("no_rule", told))


def _ended(
    script: Script, reply: ScriptedReply, request: ChatRequest, view: _View, model: str
) -> ScriptedReply:
    """The reply, with the command that ends the turn where the program needs one."""
    if reply.text is None or reply.tool_calls or reply.run is not None or not request.tools:
        return reply
    for ending in script.endings:
        if _match(ending.when, request, view, model) is not None:
            command = ending.run
            if reply.template:
                command = "{% raw %}" + command + "{% endraw %}"
            return reply.model_copy(update={"run": command})
    return reply


def _refusal(code: str, message: str) -> ScriptedError:
    return ScriptedError(status=400, code=code, message=f"scripted model: {message}")


def failure(request: ChatRequest, error: ScriptedError) -> Reply:
    """The reply that is a failure; its usage is that of the partial text."""
    return Reply(error.text, (), "stop", _estimate(request, error.text), error)


def _reply(reply: ScriptedReply, request: ChatRequest, values: Mapping[str, object]) -> Reply:
    used = values if reply.template else None
    filled = _fill(reply.text or "", used)
    text = filled if isinstance(filled, str) else ""
    if reply.json_ is not None:
        text = json.dumps(_fill(reply.json_, used), ensure_ascii=False)
    wanted = [(call.name, dict(call.arguments)) for call in reply.tool_calls]
    if reply.run is not None:
        tool = shell_tool(request.tools)
        if tool is None:
            return failure(request, _refusal("no_shell", "no offered tool takes a command"))
        wanted.append((tool.name, shell_arguments(tool, reply.run)))
    calls = tuple(
        ToolCall(id=_call_id(request, index), name=name, arguments=_object(_fill(args, used)))
        for index, (name, args) in enumerate(wanted)
    )
    spoken = text + "".join(f"{c.name}{json.dumps(c.arguments)}" for c in calls)
    return Reply(
        text=text,
        tool_calls=calls,
        finish=reply.finish or ("tool_calls" if calls else "stop"),
        usage=reply.usage or _estimate(request, spoken),
        chunk_chars=reply.chunk_chars,
        chunk_delay_s=reply.chunk_delay_s,
        is_json=reply.json_ is not None,
    )


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}


def _call_id(request: ChatRequest, index: int) -> str:
    # unique in a session: each turn's request differs from the one before it
    text = "\0".join(f"{m.role}:{m.tool_call_id}:{message_text(m)}" for m in request.messages)
    return "call_" + hashlib.sha256(f"{index}\0{text}".encode()).hexdigest()[:20]


def _estimate(request: ChatRequest, spoken: str) -> Usage:
    """Four UTF-8 bytes a token, 85 tokens an image: crude, and always the same."""
    heard = sum(len(message_text(m).encode("utf-8", "replace")) for m in request.messages)
    images = sum(isinstance(p, ImagePart) for m in request.messages for p in m.parts)
    said = len(spoken.encode("utf-8", "replace"))
    return Usage(input=-(-heard // 4) + 85 * images, output=-(-said // 4))


# --- the shell of whichever harness asks -------------------------------------------------

_COMMAND_KEYS = ("command", "cmd", "code", "script")
_LANGUAGE_KEYS = ("language", "lang", "type")
_SHELLS = ("bash", "sh", "shell")
_LIKELY = re.compile(r"(?i)bash|shell|exec|terminal|command|run")


def _properties(tool: ToolSpec) -> Mapping[str, JsonValue]:
    properties = tool.parameters.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _language(tool: ToolSpec) -> tuple[str, str] | None:
    """The parameter by which a tool that runs several languages is told to take shell."""
    for key in _LANGUAGE_KEYS:
        kind = _properties(tool).get(key)
        listed = kind.get("enum") if isinstance(kind, Mapping) else None
        for shell in listed if isinstance(listed, list) else ():
            if isinstance(shell, str) and shell in _SHELLS:
                return key, shell
    return None


def _command_key(tool: ToolSpec) -> str | None:
    """The parameter that takes the command; some languages' runners leave theirs undeclared."""
    found = next((key for key in _COMMAND_KEYS if key in _properties(tool)), None)
    undeclared = found is None and _language(tool) is not None and _LIKELY.search(tool.name)
    return "code" if undeclared else found


def shell_tool(tools: Sequence[ToolSpec]) -> ToolSpec | None:
    """The offered tool that runs a command: by its parameters, likely names first."""

    def rank(tool: ToolSpec) -> tuple[int, bool]:
        # A `command` is a shell's; `code` may be any language's, unless it can be named.
        key = _command_key(tool) or ""
        known = key in _COMMAND_KEYS[:2] or _language(tool) is not None
        place = 0 if known else _COMMAND_KEYS.index(key)
        return place, _LIKELY.search(tool.name) is None

    return min((t for t in tools if _command_key(t) is not None), key=rank, default=None)


def shell_arguments(tool: ToolSpec, command: str) -> dict[str, JsonValue]:
    """Arguments for a command; other required strings get a word, so that schemas hold."""
    properties = _properties(tool)
    key = _command_key(tool) or _COMMAND_KEYS[0]
    kind = properties.get(key)
    is_list = isinstance(kind, Mapping) and kind.get("type") == "array"
    arguments: dict[str, JsonValue] = {key: ["bash", "-lc", command] if is_list else command}
    language = _language(tool)
    if language is not None:
        arguments[language[0]] = language[1]
    required = tool.parameters.get("required")
    for name in required if isinstance(required, list) else ():
        prop = properties.get(str(name))
        if name not in arguments and isinstance(prop, Mapping) and prop.get("type") == "string":
            arguments[str(name)] = "run a command"
    return arguments
