"""Scripts: checked when read, pure in what they answer."""

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from uniclaw.errors import ProviderRateLimited, ProviderRefused, UserError
from uniclaw.models import create_model
from uniclaw.models.script import load_script, parse_script
from uniclaw.models.script_reply import by_speaker, choose_reply
from uniclaw.models.settings import ModelSettings
from uniclaw.ports import ChatRequest, Message, TextPart, ToolCall, ToolSpec, text_message


def script_of(*rules: object) -> object:
    return {"rules": list(rules)}


def tool_round(number: int, result: str) -> tuple[Message, Message]:
    call = ToolCall(id=f"c{number}", name="shell", arguments={"command": f"step {number}"})
    return (
        Message(role="assistant", tool_calls=(call,)),
        Message(role="tool", parts=(TextPart(text=result),), tool_call_id=call.id),
    )


def shell(name: str, **parameters: JsonValue) -> ToolSpec:
    return ToolSpec(name=name, description="", parameters=parameters)


FIRST = ChatRequest(messages=(text_message("system", "S"), text_message("user", "make a report")))
WORKED = ChatRequest(messages=(*FIRST.messages, *tool_round(1, "ok 1")))
TOLD = ChatRequest(
    messages=(
        *WORKED.messages,
        text_message("assistant", "done"),
        text_message("user", "the file total.csv is missing"),
    )
)


@pytest.mark.parametrize(
    ("when", "hits"),
    [
        ({}, [FIRST, WORKED, TOLD]),
        ({"last_user": "missing"}, [TOLD]),
        ({"first_user": "^make"}, [FIRST, WORKED, TOLD]),
        ({"last": "ok 1"}, [WORKED]),
        ({"last_role": "tool"}, [WORKED]),
        ({"seen": "step 1"}, [WORKED, TOLD]),
        ({"seen": ["step 1", "missing"]}, [TOLD]),
        ({"not_seen": "step 1"}, [FIRST]),
        ({"not_seen": ["nowhere", "total"]}, [FIRST, WORKED]),
        ({"system": "^S$"}, [FIRST, WORKED, TOLD]),
        ({"purpose": "judge"}, []),
        ({"tool_results_at_least": 1}, [WORKED, TOLD]),
        ({"tool_results_at_most": 0}, [FIRST]),
        ({"turn_tool_results_at_least": 1}, [WORKED]),
        ({"turn_tool_results_at_most": 0}, [FIRST, TOLD]),
        ({"user_messages_at_least": 2}, [TOLD]),
        ({"wants_json": False}, [FIRST, WORKED, TOLD]),
        ({"last_user": "missing", "seen": "nowhere"}, []),
    ],
)
def test_conditions(when: dict[str, object], hits: list[ChatRequest]) -> None:
    script = parse_script(script_of({"when": when, "reply": {"text": "hit"}}))
    answers = [choose_reply(script, request) for request in (FIRST, WORKED, TOLD)]
    assert [a.text == "hit" for a in answers] == [r in hits for r in (FIRST, WORKED, TOLD)]
    assert all(a.error is not None and a.error.status == 400 for a in answers if a.text != "hit")


def test_feedback_steers_by_groups_and_the_answer_never_depends_on_the_count() -> None:
    script = parse_script(
        script_of(
            {
                "when": {"last_user": r"file (?P<file>\S+) is missing"},
                "reply": {
                    "tool_calls": [
                        {"name": "shell", "arguments": {"command": "touch {{ groups.file }}"}}
                    ]
                },
            },
            {"reply": {"text": "{{ last_user | upper }} {{ tool_results | length }}"}},
        )
    )
    for _ in range(2):
        assert choose_reply(script, TOLD).tool_calls[0].arguments == {"command": "touch total.csv"}
        assert choose_reply(script, WORKED).text == "MAKE A REPORT 1"
    assert choose_reply(script, TOLD) == choose_reply(script, TOLD)
    assert choose_reply(script, TOLD).usage.total > choose_reply(script, FIRST).usage.total


def test_call_ids_differ_between_turns_and_calls() -> None:
    two = {"tool_calls": [{"name": "a"}, {"name": "a"}]}
    script = parse_script(script_of({"reply": two}))
    ids = [c.id for r in (FIRST, WORKED, TOLD) for c in choose_reply(script, r).tool_calls]
    assert len(set(ids)) == 6


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (
            shell("Bash", properties={"command": {"type": "string"}}, required=["command"]),
            {"command": "ls"},
        ),
        (shell("exec_command", properties={"cmd": {"type": "string"}}), {"cmd": "ls"}),
        (
            shell("shell", properties={"command": {"type": "array"}}),
            {"command": ["bash", "-lc", "ls"]},
        ),
        (
            shell(
                "bash",
                properties={"command": {"type": "string"}, "description": {"type": "string"}},
                required=["command", "description"],
            ),
            {"command": "ls", "description": "run a command"},
        ),
        (
            shell("code_run", properties={"type": {"type": "string", "enum": ["python", "bash"]}}),
            {"code": "ls", "type": "bash"},
        ),
    ],
)
def test_run_finds_the_shell_of_any_harness(
    tool: ToolSpec, arguments: dict[str, JsonValue]
) -> None:
    others = (
        shell("lookup", properties={"code": {"type": "string"}}),
        shell("web_execute_js", properties={"script": {"type": "string"}}),
        shell("schedule", properties={"type": {"type": "string", "enum": ["shell", "mail"]}}),
    )
    request = FIRST.model_copy(update={"tools": (*others, tool)})
    script = parse_script(script_of({"reply": {"run": "ls"}}))
    call = choose_reply(script, request).tool_calls[0]
    assert (call.name, call.arguments) == (tool.name, arguments)
    assert choose_reply(script, FIRST).error is not None


def test_what_programs_put_among_the_users_words_is_told_apart() -> None:
    texts = (
        "<system-reminder>x",
        "\n<tool_result>\n{}",
        "a word of mine <tool_result>",
        "<<<BEGIN",
    )
    split = by_speaker([TextPart(text=text) for text in texts])
    found = {
        role: [p.text for p in parts if isinstance(p, TextPart)] for role, parts in split.items()
    }
    assert found == {"system": [texts[0]], "tool": [texts[1]], "user": [texts[2], texts[3]]}


def test_a_turn_that_ends_by_a_command_runs_it_with_the_last_words() -> None:
    rules = [
        {"when": {"last_role": "tool"}, "reply": {"text": "{{ last }}: done"}},
        {"reply": {"run": "ls"}},
    ]
    ending = {"when": {"first_user": "report"}, "run": "echo {{ over }}"}
    script = parse_script({"rules": rules, "endings": [ending]})
    tools = (shell("bash", properties={"command": {"type": "string"}}),)
    first, worked, told = (r.model_copy(update={"tools": tools}) for r in (FIRST, WORKED, TOLD))
    reply = choose_reply(script, worked)
    assert reply.text == "ok 1: done"
    assert [c.arguments for c in reply.tool_calls] == [{"command": "echo {{ over }}"}]
    for request in (first, told):
        assert choose_reply(script, request).tool_calls[0].arguments == {"command": "ls"}
    assert choose_reply(script, WORKED).tool_calls == ()  # nothing is offered: a side request
    other = worked.model_copy(update={"messages": (text_message("user", "x"), *WORKED.messages)})
    assert choose_reply(script, other).tool_calls == ()


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({}, "rules"),
        ({"rules": []}, "rules"),
        ({"rules": [{"reply": {"text": "x"}}], "model": 1}, "model"),
        (script_of({"reply": {"txt": "x"}}), "rules.0.reply"),
        (script_of({"when": {"last_usr": "x"}, "reply": {"text": "x"}}), "rules.0.when.last_usr"),
        (script_of({"when": {"seen": "("}, "reply": {"text": "x"}}), "rules.0.when.seen"),
        (script_of({"reply": {"text": "x"}, "error": {}}), "rules.0"),
        (script_of({"when": {}}), "rules.0"),
        (script_of({"reply": {"json": {}, "text": "x"}}), "rules.0.reply"),
        (script_of({"error": {"status": 200}}), "rules.0.error.status"),
        (script_of({"reply": {"text": "echo ${#array}"}}), "rules.0.reply"),
        ("text", None),
    ],
)
def test_bad_script_names_file_and_field(tmp_path: Path, data: object, field: str | None) -> None:
    file = tmp_path / "s.yaml"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_script(file)
    assert caught.value.file == str(file)
    if field:
        assert (caught.value.field or "").startswith(field)


def test_unreadable_scripts(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        load_script(tmp_path / "none.yaml")
    file = tmp_path / "bad.yaml"
    for data in (b"\xff\xfe", b"rules: [", b"a: &a [*a, *b]"):
        file.write_bytes(data)
        with pytest.raises(UserError, match="not YAML"):
            load_script(file)


def test_templates_are_sandboxed_and_failures_are_said() -> None:
    for text in ("{{ ''.__class__.__mro__ }}", "{{ unknown }}", "{{ 1 // 0 }}", "{{ 'a' + 1 }}"):
        reply = choose_reply(parse_script(script_of({"reply": {"text": text}})), FIRST)
        assert reply.error is not None
        assert reply.error.code == "template"
    plain = parse_script(script_of({"reply": {"text": "${#a} {{ b }}", "template": False}}))
    assert choose_reply(plain, FIRST).text == "${#a} {{ b }}"


async def test_scripted_model_by_its_spec(tmp_path: Path) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(
        "rules:\n"
        "- {when: {purpose: judge}, error: {status: 429}}\n"
        "- {when: {last_user: hello}, reply: {json: {a: '{{ last_user }}'}}}\n",
        encoding="utf-8",
    )
    model = create_model(f"scripted/{file}", settings=ModelSettings())
    hello = ChatRequest(messages=(text_message("user", "hello"),))
    answer = await model.complete(hello)
    assert answer.text == '{"a": "hello"}'
    assert model.spec == answer.model == f"scripted/{file}"
    with pytest.raises(ProviderRateLimited):
        await model.complete(hello.model_copy(update={"purpose": "judge"}))
    with pytest.raises(ProviderRefused, match="no rule"):
        await model.complete(FIRST)
    spent = model.spent()
    assert spent.calls == 3
    assert spent.cost_usd == 0.0  # a script costs nothing
    await model.close()
