r"""Scripts of scripted models: YAML rules, checked when they are read.

    rules:
      - when: {last_user: 'missing: (?P<file>\S+)', turn_tool_results_at_most: 0}
        reply:
          tool_calls: [{name: shell, arguments: {command: 'touch {{ groups.file }}'}}]
      - when: {purpose: judge}
        reply: {json: {lines: []}}
      - error: {status: 429, retry_after: 2}

The first rule that matches answers; a rule without `when` always does. The decision depends
on the content of the request and on nothing else: no counter, no clock, no chance. Strings
of a reply are Jinja templates (sandboxed) over the values of `script_reply.template_values`,
unless the reply says `template: false`. `endings` beside `rules` are for programs whose turns end
by a command: `endings: [{when: {first_user: SUBMIT}, run: echo SUBMIT}]`.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self

import jinja2
import jinja2.sandbox
import yaml
from pydantic import AfterValidator, Field, JsonValue, ValidationError, model_validator

from uniclaw.errors import UserError
from uniclaw.records import Count, NonNegative, Record, Usage

MAX_SCRIPT_BYTES = 5_000_000


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
"""A Python regular expression, searched (not anchored), where `.` also matches newlines."""


class When(Record):
    """Conditions on a request; all that are given must hold."""

    purpose: Pattern | None = None
    """Who asks. On the wire always `executor`."""
    model: Pattern | None = None
    """Name that the request asks for; on the wire only."""
    system: Pattern | None = None
    """All system text."""
    first_user: Pattern | None = None
    last_user: Pattern | None = None
    """The last user message."""
    last: Pattern | None = None
    """The last message, whoever wrote it; the result of a tool for instance."""
    last_role: Literal["user", "assistant", "tool"] | None = None
    seen: Pattern | tuple[Pattern, ...] | None = None
    """Somewhere in the messages, calls included; several must all be found."""
    not_seen: Pattern | tuple[Pattern, ...] | None = None
    """Nowhere in the messages; several must all be missing."""
    tool_offered: Pattern | None = None
    """A tool of such a name is offered (matches the whole name)."""
    wants_json: bool | None = None
    tool_results_at_least: Count | None = None
    """Results in the whole request."""
    tool_results_at_most: Count | None = None
    turn_tool_results_at_least: Count | None = None
    """Results after the last user message."""
    turn_tool_results_at_most: Count | None = None
    user_messages_at_least: Count | None = None
    user_messages_at_most: Count | None = None
    images_at_least: Count | None = None


class ScriptedCall(Record):
    """A tool call of a reply."""

    name: str
    arguments: Mapping[str, JsonValue] = {}


class ScriptedReply(Record):
    """What a rule says. Any of text, tool calls and `run`; or `json`."""

    text: str | None = None
    json_: Annotated[JsonValue, Field(alias="json")] = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    run: str | None = None
    """A shell command for whichever offered tool takes a `command`, `cmd` or `code` string."""
    finish: Literal["stop", "length", "refusal"] | None = None
    usage: Usage | None = None
    """None: estimated from the lengths of the texts."""
    template: bool = True
    chunk_chars: Annotated[int, Field(ge=1)] = 40
    """On the wire: characters per streamed chunk."""
    chunk_delay_s: NonNegative = 0.0
    """On the wire: pause before each chunk."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.json_ is not None and (self.text is not None or self.tool_calls or self.run):
            raise ValueError("`json` stands alone")
        if self.json_ is None and self.text is None and not self.tool_calls and self.run is None:
            raise ValueError("one of `text`, `json`, `tool_calls`, `run` is needed")
        return self


class ScriptedError(Record):
    """A provider's failure."""

    kind: Literal["status", "stream", "cut", "eof", "garbage", "disconnect"] = "status"
    """`status`: an HTTP error. `stream`: an error inside a 200 answer. `cut`: the connection
    drops in the middle. `eof`: the stream just ends. `garbage`: not JSON. `disconnect`: the
    connection drops before anything of the answer came."""
    status: Annotated[int, Field(ge=400, le=599)] = 500
    code: str = "scripted_error"
    """Type and code in the error's body, such as `overloaded_error`."""
    message: str = "scripted error"
    retry_after: str | NonNegative | None = None
    """Seconds or an HTTP date."""
    after_chunks: Count = 0
    """For `stream`, `cut`, `eof` and `garbage`: chunks of `text` sent before it."""
    text: str = "partial text that was sent before the failure"


class Rule(Record):
    """One rule: conditions, and a reply or an error."""

    when: When = When()
    reply: ScriptedReply | None = None
    error: ScriptedError | None = None

    @model_validator(mode="after")
    def _one_answer(self) -> Self:
        if (self.reply is None) == (self.error is None):
            raise ValueError("exactly one of `reply` and `error`")
        return self


class Ending(Record):
    """For programs whose turns end by a command: where it holds, a reply of text alone runs it."""

    when: When
    run: Annotated[str, Field(min_length=1)]
    """Not a template."""


class Script(Record):
    """A scripted model."""

    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]
    endings: tuple[Ending, ...] = ()
    """The first that holds counts."""


def load_script(path: Path) -> Script:
    """Read and check a script.

    Raises:
        UserError: it cannot be read, or is not a script (file, field, value).
    """
    try:
        data = path.read_bytes()[: MAX_SCRIPT_BYTES + 1]
    except OSError as error:
        raise UserError(f"cannot read the script: {error.strerror}", file=path) from error
    if len(data) > MAX_SCRIPT_BYTES:
        raise UserError(f"script larger than {MAX_SCRIPT_BYTES} bytes", file=path)
    try:
        return parse_script(yaml.safe_load(data.decode("utf-8")), file=str(path))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise UserError(f"not YAML: {error}", file=path) from error


def parse_script(data: object, *, file: str = "script") -> Script:
    """Check a script given as plain data; its templates are compiled too.

    Raises:
        UserError: with file, field and value.
    """
    try:
        script = Script.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise UserError(first["msg"], file=file, field=field, value=first["input"]) from error
    for index, rule in enumerate(script.rules):
        if rule.reply is not None and rule.reply.template:
            for text in _strings(rule.reply.model_dump(mode="json", by_alias=True)):
                try:
                    compile_template(text)
                except jinja2.TemplateError as error:
                    problem = f"broken template: {error}; `template: false` takes text as it is"
                    field = f"rules.{index}.reply"
                    raise UserError(problem, file=file, field=field, value=text) from error
    return script


def _strings(value: JsonValue) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in _strings(part)]
    return []


_JINJA = jinja2.sandbox.ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # replies are text, not HTML
    keep_trailing_newline=True,
)


@cache
def compile_template(text: str) -> jinja2.Template:
    """A sandboxed template of a reply."""
    return _JINJA.from_string(text)
