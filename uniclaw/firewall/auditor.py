"""The second tier of screening: a model reads a message beside the hidden material.

Optional. What it cannot answer is an error of the tier, never a verdict of `clean`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import JsonValue, ValidationError

from uniclaw.assets import Assets
from uniclaw.errors import JudgeError
from uniclaw.firewall.decision import CLEAN, Hit, ScreenDecision
from uniclaw.firewall.material import HiddenMaterial
from uniclaw.ports import ChatModel, ChatRequest, text_message
from uniclaw.prompts import new_nonce, untrusted
from uniclaw.records import Brief, Record

PROMPT_FILE: Final = "firewall/auditor/system.md"
_MAX_HIDDEN: Final = 60_000
_MAX_VISIBLE: Final = 40_000
_ATTEMPTS: Final = 2
_SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {"leak": {"type": "boolean"}, "what": {"type": "string"}},
    "required": ["leak", "what"],
    "additionalProperties": False,
}


class _Finding(Record):
    leak: bool
    what: str


class Auditor:
    """Asks a model whether a message leaks."""

    def __init__(self, model: ChatModel, assets: Assets) -> None:
        """Read the prompt.

        Raises:
            UserError: the prompt file is missing.
        """
        self._model = model
        self._system = assets.read_text(PROMPT_FILE)

    async def audit(
        self,
        message: str,
        *,
        material: HiddenMaterial,
        instruction: str,
        brief: Brief,
        visible: Sequence[str],
    ) -> ScreenDecision:
        """Decide on one message.

        Raises:
            JudgeError: no usable answer in two attempts.
            ProviderError: the model's provider failed.
        """
        request = self._request(message, material, instruction, brief, visible)
        for _ in range(_ATTEMPTS):
            completion = await self._model.complete(request)
            try:
                finding = _Finding.model_validate(json.loads(completion.text), strict=True)
            except (ValueError, ValidationError, RecursionError):
                continue
            if not finding.leak:
                return CLEAN
            hit = Hit(kind="auditor", matched=finding.what[:300], tier="auditor")
            return ScreenDecision(decision="leak", hits=(hit,))
        raise JudgeError(f"no usable audit from {self._model.spec}")

    def _request(
        self,
        message: str,
        material: HiddenMaterial,
        instruction: str,
        brief: Brief,
        visible: Sequence[str],
    ) -> ChatRequest:
        nonce = new_nonce()
        hidden = "\n".join(f"[{where}] {text}" for where, text in material.texts())
        facts = "\n".join(fact.text for fact in brief.facts)
        parts = (
            untrusted(hidden[:_MAX_HIDDEN], nonce=nonce, label="hidden"),
            untrusted(instruction, nonce=nonce, label="request"),
            untrusted(facts, nonce=nonce, label="own-facts"),
            untrusted("\n".join(visible)[:_MAX_VISIBLE], nonce=nonce, label="visible"),
            untrusted(message, nonce=nonce, label="message"),
        )
        return ChatRequest(
            messages=(
                text_message("system", self._system),
                text_message("user", "\n\n".join(parts)),
            ),
            json_schema=_SCHEMA,
            purpose="firewall_auditor",
        )
