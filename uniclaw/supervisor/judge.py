"""The judge: one structured answer of a model for all judge lines of a round.

Knows the hidden criteria and references; nothing of it leaves but `CheckResult`s. What the
agent wrote reaches the model only inside fences, and the verdict only through the answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from uniclaw.assets import Assets
from uniclaw.errors import BudgetExceeded, JudgeError
from uniclaw.hidden.verdict import CheckResult
from uniclaw.ports import ChatModel, ChatRequest, ImagePart, Message, TextPart, text_message
from uniclaw.prompts import new_nonce, render, untrusted
from uniclaw.records import Count, NonNegative, Record
from uniclaw.supervisor.frozen import FrozenFiles
from uniclaw.supervisor.judge_evidence import (
    EvidenceLimits,
    KnownIds,
    cut_middle,
    cut_references,
    show_events,
)
from uniclaw.supervisor.judge_files import TOOLS, Reader, ReadLimits, looks_like_image
from uniclaw.supervisor.lines import JudgeLine
from uniclaw.supervisor.renditions import place_of, renditions_of
from uniclaw.supervisor.verdict_parser import ParsedVerdict, parse_verdict
from uniclaw.trajectory import Evidence

PURPOSE = "judge"
USER_MARK = "<!-- user -->"
"""In the prompt file: system text stands before it, the user message after it."""
UNSUPPORTED = "the judge cites no evidence that exists"

Mark = Callable[[str, str], str]
"""`(label, text) -> text`: plants a canary in a hidden text that only the judge gets."""


class JudgeSettings(Record):
    """How a judge is asked."""

    samples: Count = 3
    """Fresh answers before giving up on a usable one."""
    max_output_tokens: Count = 8_192
    temperature: NonNegative | None = None
    """None: the provider's default."""
    seed: int | None = None
    reading: ReadLimits = ReadLimits()
    evidence: EvidenceLimits = EvidenceLimits()
    prompt: str = "roles/supervisor/judge.{language}.md"
    """Asset path; `{language}` is the task's."""


def unmarked(label: str, text: str) -> str:
    """A `Mark` that plants nothing."""
    del label
    return text


class _Sample(NamedTuple):
    verdict: ParsedVerdict
    cited: Mapping[str, tuple[str, ...]]
    """Line id -> cited ids that exist."""
    unsupported: frozenset[str]
    """Lines that cite what does not exist, or nothing though they are met."""


class Judge:
    """A `lines.JudgeFunction` behind one chat model."""

    def __init__(
        self,
        model: ChatModel,
        assets: Assets,
        *,
        settings: JudgeSettings | None = None,
        references: Mapping[str, str] | None = None,
        mark: Mark = unmarked,
    ) -> None:
        """Make a judge for one episode.

        Args:
            model: asked with purpose `judge`.
            assets: where the prompts are.
            settings: limits and sampling.
            references: hidden texts by label, shown to the judge.
            mark: applied to each criterion and reference text before it is shown.
        """
        self._model = model
        self._assets = assets
        self._settings = settings or JudgeSettings()
        self._references = dict(references or {})
        self._mark = mark

    @property
    def spec(self) -> str:
        """`PROVIDER/NAME` of the model."""
        return self._model.spec

    async def __call__(
        self, evidence: Evidence, lines: Sequence[JudgeLine]
    ) -> Mapping[str, CheckResult]:
        """Give every line exactly one result; no lines, no call.

        A usable answer that cites evidence which does not exist is asked for anew; when all
        samples do so, the last stands and its unsupported lines are marked approximate.

        Raises:
            JudgeError: no sample was usable.
        """
        if not lines:
            return {}
        problems: list[str] = []
        weak: _Sample | None = None
        for _ in range(self._settings.samples):
            try:
                sample = await self._sample(evidence, lines)
            except JudgeError as error:
                problems.append(str(error))
                continue
            except BudgetExceeded as error:  # the judge's own; the executor's is another
                raise JudgeError(f"the judge's {error}") from error
            if not sample.unsupported:
                return _results(sample)
            weak = sample
            problems.append(f"{UNSUPPORTED}: lines {sorted(sample.unsupported)}")
        if weak is not None:
            return _results(weak)
        raise JudgeError(f"no usable verdict: {'; '.join(problems) or 'no samples allowed'}")

    async def _sample(self, evidence: Evidence, lines: Sequence[JudgeLine]) -> _Sample:
        nonce = new_nonce()
        reader = Reader(
            files=FrozenFiles.of(evidence),
            nonce=nonce,
            limits=self._settings.reading,
            shown=self._settings.evidence,
            renditions=renditions_of(evidence),
            rendered_in=place_of(evidence),
        )
        messages = await self._prompt(evidence, lines, nonce, reader)
        verdict = await self._converse(messages, [line.id for line in lines], reader)
        known = KnownIds(evidence)
        cited: dict[str, tuple[str, ...]] = {}
        unsupported: set[str] = set()
        for line in verdict.lines:
            resolved = [known.resolve(e) for e in line.evidence]
            cited[line.id] = tuple(dict.fromkeys(e for e in resolved if e is not None))
            if None in resolved or (line.met > 0 and not cited[line.id]):
                unsupported.add(line.id)
        return _Sample(verdict, cited, frozenset(unsupported))

    async def _converse(
        self, messages: list[Message], ids: Sequence[str], reader: Reader
    ) -> ParsedVerdict:
        """Let the model read within its budget, and take its answer."""
        schema = answer_schema(ids)
        while True:
            request = ChatRequest(
                messages=tuple(messages),
                tools=TOOLS if reader.open else (),
                json_schema=schema,
                max_output_tokens=self._settings.max_output_tokens,
                temperature=self._settings.temperature,
                seed=self._settings.seed,
                purpose=PURPOSE,
            )
            answer = await self._model.complete(request)
            if answer.finish in ("length", "refusal"):
                raise JudgeError(f"the judge's answer ended by {answer.finish}")
            if not answer.tool_calls:
                return parse_verdict(answer.text, ids)
            if not request.tools:
                raise JudgeError("the judge calls tools instead of answering")
            said = (TextPart(text=answer.text),) if answer.text else ()
            calls = answer.tool_calls
            messages.append(Message(role="assistant", parts=said, tool_calls=calls))
            for call in calls:
                parts = await reader.answer(call)
                messages.append(Message(role="tool", parts=parts, tool_call_id=call.id))

    async def _prompt(
        self, evidence: Evidence, lines: Sequence[JudgeLine], nonce: str, reader: Reader
    ) -> list[Message]:
        file = self._settings.prompt.format(language=evidence.task.language)
        values = self._values(evidence, lines, nonce, reader)
        system, mark, user = self._assets.read_text(file).partition(USER_MARK)
        if not mark:
            raise JudgeError(f"prompt file {file} has no line {USER_MARK}")
        pictures = await self._pictures(lines, reader)
        parts = (TextPart(text=render(user, file=file, **values)), *pictures)
        return [
            text_message("system", render(system, file=file, **values)),
            Message(role="user", parts=parts),
        ]

    def _values(
        self, evidence: Evidence, lines: Sequence[JudgeLine], nonce: str, reader: Reader
    ) -> dict[str, object]:
        """What the prompt file may use."""
        limits = self._settings.evidence
        turn = evidence.turn

        def fence(text: str, label: str) -> str:
            return untrusted(
                cut_middle(text, limits.max_event_bytes).text, nonce=nonce, label=label
            )

        return {
            "nonce": nonce,
            "tools": reader.open,
            "max_calls": self._settings.reading.max_calls,
            "max_bytes": self._settings.reading.max_bytes,
            "instruction": evidence.task.instruction,
            "ids": [line.id for line in lines],
            "lines": [
                line._replace(criterion=self._mark(f"criterion:{line.id}", line.criterion))
                for line in lines
            ],
            "references": cut_references(self._references, self._mark, limits.max_reference_bytes),
            "round": evidence.round,
            "stop": turn.stop.value,
            "files": reader.listing(0),
            "files_truncated": evidence.manifest.truncated,
            "probes": [
                {
                    "id": probe.id,
                    "exit_code": probe.exit_code,
                    "truncated": probe.truncated,
                    "text": fence(probe.stdout, f"probe.{probe.id}"),
                }
                for probe in evidence.probes
            ],
            "events": show_events(evidence.events, nonce, limits),
            "final_message": fence(turn.final_message, "final_message"),
        }

    async def _pictures(
        self, lines: Sequence[JudgeLine], reader: Reader
    ) -> list[TextPart | ImagePart]:
        """Pictures and rendered documents that criteria name, each once."""
        found = {
            entry.path: entry
            for line in lines
            for pattern in line.files
            for entry in reader.files.find(pattern)
            if entry.kind == "file" and entry.skipped is None
        }
        parts: list[TextPart | ImagePart] = []
        for entry in found.values():
            seen = reader.renditions.of(entry.path)
            if looks_like_image(entry):
                parts.extend(await reader.image(entry))
            elif seen is not None:
                parts.extend(await reader.rendered(seen))
        return parts


def answer_schema(ids: Sequence[str]) -> dict[str, JsonValue]:
    """JSON schema of the answer; ranges and counts are the parser's business."""
    line: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "enum": list(ids)},
            "met": {"type": "number", "description": "0 (not met) to 1 (fully met)"},
            "evidence": {"type": "array", "items": {"type": "string"}},
            "reason": {"type": "string"},
        },
        "required": ["id", "met", "evidence", "reason"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "lines": {"type": "array", "items": line},
            "unrecoverable": {"type": ["string", "null"]},
        },
        "required": ["lines", "unrecoverable"],
        "additionalProperties": False,
    }


def _results(sample: _Sample) -> dict[str, CheckResult]:
    results = {
        line.id: CheckResult(
            value=line.met,
            reason=line.reason,
            evidence=sample.cited[line.id],
            approximate=UNSUPPORTED if line.id in sample.unsupported else None,
        )
        for line in sample.verdict.lines
    }
    first = next(iter(results))
    if sample.verdict.repaired:
        results[first] = _add(results[first], "[verdict repaired: trailing comma]")
    why = sample.verdict.unrecoverable
    if why is not None:  # a statement about the attempt: one terminal line says it
        told = _add(results[first], f"[unrecoverable: {why}]")
        results[first] = told.model_copy(update={"terminal": True})
    return results


def _add(result: CheckResult, remark: str) -> CheckResult:
    return result.model_copy(update={"reason": f"{result.reason} {remark}"})
