"""Several judges, or several votes of one; and whether two models are of one family."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from statistics import median

from uniclaw.errors import UserError
from uniclaw.hidden.verdict import CheckResult
from uniclaw.supervisor.lines import JudgeFunction, JudgeLine
from uniclaw.trajectory import Evidence


class Panel:
    """A `lines.JudgeFunction` of several others; a line's value is the median of all votes.

    All votes are needed: one judge without a usable verdict leaves the panel without one,
    for a vote that is missing because it was hard is not missing at random.
    """

    def __init__(self, judges: Sequence[JudgeFunction], votes: int = 1) -> None:
        """Make a panel.

        Args:
            judges: its members, asked at the same time.
            votes: how often each is asked.

        Raises:
            UserError: no members, or no votes.
        """
        if not judges or votes < 1:
            raise UserError("a panel needs a judge and a vote", field="votes", value=votes)
        self._judges = tuple(judges)
        self._votes = votes

    async def __call__(
        self, evidence: Evidence, lines: Sequence[JudgeLine]
    ) -> Mapping[str, CheckResult]:
        """Give every line one result, with all votes in `disagreement` where they differ.

        Raises:
            JudgeError: a member has no usable verdict.
        """
        tasks = [
            asyncio.ensure_future(judge(evidence, lines))
            for judge in self._judges
            for _ in range(self._votes)
        ]
        try:
            verdicts = await asyncio.gather(*tasks)
        finally:  # one has failed, or we were cancelled: the others' answers are of no use
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return {line.id: _combine([v[line.id] for v in verdicts]) for line in lines}


def _combine(results: Sequence[CheckResult]) -> CheckResult:
    values = [r.value for r in results if r.value is not None]
    complete = len(values) == len(results)
    reasons = list(dict.fromkeys(r.reason for r in results))
    agreed = len(set(values)) <= 1
    return CheckResult(
        value=float(median(values)) if complete else None,
        reason=reasons[0]
        if len(reasons) == 1
        else " | ".join(
            f"{'?' if r.value is None else f'{r.value:g}'}: {r.reason}" for r in results
        ),
        evidence=tuple(dict.fromkeys(e for r in results for e in r.evidence)),
        terminal=sum(r.terminal for r in results) * 2 > len(results),
        approximate="; ".join(dict.fromkeys(r.approximate for r in results if r.approximate))
        or None,
        disagreement=() if agreed else tuple(values),
    )


_FAMILIES: Mapping[str, str] = {
    "openai": r"(chat)?gpt|o[1-9]\b|codex|davinci",
    "anthropic": r"claude",
    "google": r"gemini|gemma|palm",
    "qwen": r"qwen|qwq|qvq|tongyi",
    "deepseek": r"deepseek",
    "zhipu": r"(chat)?glm|zai\b",
    "moonshot": r"kimi|moonshot",
    "meta": r"(code)?llama",
    "mistral": r"mistral|mixtral|ministral|magistral|codestral|devstral|pixtral",
    "xai": r"grok",
    "minimax": r"minimax|abab",
    "baidu": r"ernie",
    "bytedance": r"doubao|seed\b",
    "microsoft": r"phi\b",
    "cohere": r"command\b|aya\b",
}


def family(spec: str) -> str | None:
    """Family of a model by its name; None for scripted ones.

    The last part of the name decides first, for `openai/` may stand for any compatible
    address; an unknown name is a family of its own, by its first word.
    """
    provider, _, name = spec.partition("/")
    if provider in ("scripted", "cassette"):
        return None
    last = (name or provider).lower().rsplit("/", 1)[-1]
    for known, pattern in _FAMILIES.items():
        if re.search(rf"(?<![a-z])({pattern})", last):
            return known
    word = re.match(r"[a-z]+", last)
    return word.group() if word else last


def shares_family(model_a: str, model_b: str) -> bool:
    """Whether two models (`PROVIDER/NAME`) are of one family, and so may favour each other."""
    one = family(model_a)
    return one is not None and one == family(model_b)
