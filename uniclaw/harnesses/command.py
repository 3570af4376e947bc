"""Any command-line agent, described by a template: `command.yaml` beside the recipe of its layer.

    environment: {API_KEY: "{{ token }}"}
    files: {"{{ home }}/.agent.json": '{"url": {{ url | tojson }}}'}
    first: {argv: [agent, run, --json]}
    next: {argv: [agent, run, --json, --continue]}
    final: {type: [done]}
    transcript:
      events:
        - {when: {type: text}, message: text}
        - {when: {type: call}, call: {tool: name, id: id, arguments: input}}
        - {when: {type: output}, result: {id: id, text: output, exit_code: code}}
    model_failure: "Error: "

Texts are Jinja over `home`, `workspace`, `url`, `token`, `model`, `context_tokens` and
`prompt_file`. The prompt goes by standard input, or by file where `prompt_file` is given.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Self

import jinja2
import jinja2.sandbox
from pydantic import AfterValidator, Field, JsonValue, model_validator

from uniclaw.assets import Assets
from uniclaw.environments.layers import DIRECTORY
from uniclaw.errors import UserError
from uniclaw.harnesses.cli import BasicProgram, Report, Seating
from uniclaw.harnesses.fields import code_at, int_at, text_at, value_at
from uniclaw.harnesses.launcher import Command, Launched, Line, parse_object
from uniclaw.harnesses.recorder import Recorder, content_text
from uniclaw.records import Record, Usage
from uniclaw.yamlio import parse_record, read_yaml

TEMPLATE = "command.yaml"
_MAX_TRANSCRIPT = 30_000_000


def _compiles(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]
Path = Annotated[str, Field(min_length=1)]
"""Dotted path of keys in a JSON record."""


class CallPaths(Record):
    """Where a tool call's parts are."""

    tool: Path
    id: Path
    arguments: Path


class ResultPaths(Record):
    """Where a tool result's parts are."""

    id: Path
    text: Path
    exit_code: Path | None = None


class UsagePaths(Record):
    """Where token counts are; counts of several records add up."""

    input: Path
    output: Path
    cache_read: Path | None = None
    cache_write: Path | None = None
    reasoning: Path | None = None


class EventRule(Record):
    """What a JSON record of the transcript means."""

    when: Mapping[str, Pattern] = {}
    """Dotted path -> pattern that its text matches whole; all must."""
    message: Path | None = None
    reasoning: Path | None = None
    call: CallPaths | None = None
    result: ResultPaths | None = None
    usage: UsagePaths | None = None
    failure: Path | None = None


class LineRule(Record):
    """What a line of a transcript that is no JSON means, by named groups."""

    pattern: Pattern
    """Groups: `message`; or `tool` and `arguments`; or `result`, `exit_code`; or `failure`."""


class Transcript(Record):
    """How the record of a turn is read."""

    file: str | None = None
    """Read this file's new lines instead of standard output."""
    events: tuple[EventRule, ...] = ()
    lines: tuple[LineRule, ...] = ()


class Invocation(Record):
    """How the program is called."""

    argv: Annotated[tuple[str, ...], Field(min_length=1)]


class CommandTemplate(Record):
    """What `command.yaml` holds."""

    environment: Mapping[str, str] = {}
    files: Mapping[str, str] = {}
    first: Invocation
    next: Invocation | None = None
    """For later turns; None: the same command, whose session goes on by itself."""
    prompt_file: str | None = None
    """Where the prompt is written; None: standard input."""
    final: Mapping[str, tuple[str, ...]] | None = None
    """Dotted path -> values of the JSON record that ends a turn."""
    grace_s: Annotated[float, Field(gt=0)] = 5.0
    transcript: Transcript = Transcript()
    model_failure: Pattern | None = None
    """Found in what the program says when its model failed, whatever its exit code."""

    @model_validator(mode="after")
    def _no_prompt_in_argv(self) -> Self:
        for call in (self.first, self.next):
            if call is not None and any("prompt }}" in word for word in call.argv):
                raise ValueError("a prompt is no argument: standard input or `prompt_file`")
        return self


_JINJA = jinja2.sandbox.ImmutableSandboxedEnvironment(
    undefined=jinja2.StrictUndefined,
    autoescape=False,  # configuration files, not HTML
    keep_trailing_newline=True,
)


def load_template(name: str, assets: Assets) -> CommandTemplate:
    """The template of a harness layer.

    Raises:
        UserError: there is none, or it is broken (file, field, value).
    """
    path = assets.find(f"{DIRECTORY}/{name}/{TEMPLATE}")
    return parse_record(CommandTemplate, read_yaml(path), file=path)


class CommandProgram(BasicProgram):
    """See `cli.Program`."""

    def __init__(self, seating: Seating, template: CommandTemplate) -> None:
        super().__init__(seating)
        self._template = template
        self._values: dict[str, object] = {
            "home": seating.home,
            "workspace": seating.workspace,
            "url": seating.door.url,
            "token": seating.door.token,
            "model": seating.door.model,
            "context_tokens": seating.door.context_tokens,
        }
        self._values["prompt_file"] = self._fill(template.prompt_file or "")
        self._lines_read = 0

    def _fill(self, text: str) -> str:
        try:
            return _JINJA.from_string(text).render(self._values)
        except jinja2.TemplateError as error:
            raise UserError(f"broken template: {error}", file=TEMPLATE, value=text) from error

    def files(self) -> Mapping[str, bytes]:
        """The template's files."""
        return {self._fill(k): self._fill(v).encode() for k, v in self._template.files.items()}

    async def command(self, message: str, *, first: bool) -> Command:
        """The template's command."""
        template = self._template
        call = template.first if first or template.next is None else template.next
        by_file = str(self._values["prompt_file"])
        if by_file:
            await self.seating.environment.put({by_file: message.encode("utf-8", "replace")})
        return Command(
            argv=[self._fill(word) for word in call.argv],
            stdin="" if by_file else message,
            env={key: self._fill(value) for key, value in template.environment.items()},
            final=template.final,
            grace_s=template.grace_s,
        )

    async def report(self, done: Launched, record: Recorder) -> Report:
        """Events by the rules; without any, what was printed is the message."""
        transcript = self._template.transcript
        reading = _Reading(record)
        for line in await self._transcript(done):
            record.at(line.at_s)
            data = parse_object(line.text) if line.text.startswith("{") else None
            if data is None:
                reading.line(line.text, transcript.lines)
            else:
                reading.record(data, transcript.events)
        said = reading.said
        if not transcript.events and not transcript.lines:
            said = done.text("out").strip()
            record.assistant(said)
        failure = reading.failure or self._model_failure(done, said)
        return Report("" if failure else said, failure, reading.usage)

    def _model_failure(self, done: Launched, said: str) -> str | None:
        pattern = self._template.model_failure
        if pattern is None:
            return None
        for text in (said, done.text("err"), done.text("out")):
            found = re.search(pattern, text)
            if found is not None:
                return text[found.start() :][:2000]
        return None

    async def _transcript(self, done: Launched) -> list[Line]:
        file = self._template.transcript.file
        if file is None:
            return [line for line in done.lines if line.stream == "out"]
        try:
            data = await self.seating.environment.get(self._fill(file), max_bytes=_MAX_TRANSCRIPT)
        except (FileNotFoundError, ValueError):
            return []
        lines = data.decode("utf-8", "replace").splitlines()
        new, self._lines_read = lines[self._lines_read :], len(lines)
        return [Line(done.duration_s, "out", text) for text in new]


class _Reading:
    """What the rules made of a transcript so far."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self.said = ""
        self.failure: str | None = None
        self.usage: Usage | None = None
        self._calls = 0

    def record(self, data: dict[str, JsonValue], rules: tuple[EventRule, ...]) -> None:
        """Apply every rule that matches."""
        for rule in rules:
            if all(_matches(data, path, pattern) for path, pattern in rule.when.items()):
                self._apply(data, rule)

    def _apply(self, data: dict[str, JsonValue], rule: EventRule) -> None:
        if rule.message is not None:
            self._say(content_text(_at(data, rule.message)))
        if rule.reasoning is not None:
            self._record.reasoning(content_text(_at(data, rule.reasoning)))
        if rule.call is not None:
            call = rule.call
            name, call_id = _text(data, call.tool), _text(data, call.id)
            self._record.call(name, call_id, _at(data, call.arguments))
        if rule.result is not None:
            result = rule.result
            code = code_at(data, *result.exit_code.split(".")) if result.exit_code else None
            content = _at(data, result.text)
            text = content_text(content)
            self._record.result(_text(data, result.id), text, exit_code=code, content=content)
        if rule.usage is not None:
            self.usage = (self.usage or Usage()) + _usage(data, rule.usage)
        if rule.failure is not None:
            self.failure = content_text(_at(data, rule.failure)) or "the turn failed"

    def line(self, text: str, rules: tuple[LineRule, ...]) -> None:
        """Apply the first rule that matches a line of plain text."""
        found = next((m for m in (re.search(r.pattern, text) for r in rules) if m), None)
        groups = found.groupdict() if found is not None else {}
        if groups.get("message"):
            self._say(groups["message"])
        if groups.get("tool"):
            self._calls += 1
            self._record.call(groups["tool"], str(self._calls), groups.get("arguments") or {})
        if groups.get("result") is not None:
            code = groups.get("exit_code") or ""
            number = int(code) if code.lstrip("-").isdecimal() else None
            self._record.result(str(self._calls), groups["result"], exit_code=number)
        if groups.get("failure"):
            self.failure = groups["failure"]

    def _say(self, text: str) -> None:
        self._record.assistant(text)
        self.said = text or self.said


def _at(data: dict[str, JsonValue], path: str) -> JsonValue:
    return value_at(data, *path.split("."))


def _text(data: dict[str, JsonValue], path: str) -> str:
    return text_at(data, *path.split("."))


def _matches(data: dict[str, JsonValue], path: str, pattern: str) -> bool:
    value = _at(data, path)
    shown = value if isinstance(value, str) else "" if value is None else str(value)
    return re.fullmatch(pattern, shown) is not None


def _usage(data: dict[str, JsonValue], paths: UsagePaths) -> Usage:
    def count(path: str | None) -> int:
        return 0 if path is None else int_at(data, *path.split("."))

    return Usage(
        input=count(paths.input),
        cache_read=count(paths.cache_read),
        cache_write=count(paths.cache_write),
        output=count(paths.output),
        reasoning=count(paths.reasoning),
    )
