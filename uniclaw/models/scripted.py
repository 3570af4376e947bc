"""A model that answers from a script, for tests, demos and runs without a key."""

from pathlib import Path

from uniclaw.errors import (
    ProviderBadAnswer,
    ProviderError,
    ProviderRateLimited,
    ProviderRefused,
)
from uniclaw.models.script import Script, ScriptedError, load_script
from uniclaw.models.script_reply import choose_reply
from uniclaw.ports import ChatRequest, Completion


class ScriptedModel:
    """Answers each request by the first rule that matches its content; never waits.

    A scripted error is raised at once and not retried: the same request would meet it again.
    """

    def __init__(self, script: Script, name: str) -> None:
        self._script = script
        self._name = name

    @classmethod
    def from_file(cls, path: Path) -> "ScriptedModel":
        """The model of `scripted/FILE`.

        Raises:
            UserError: the file is not a script.
        """
        return cls(load_script(path), str(path))

    @property
    def spec(self) -> str:
        """`scripted/FILE`."""
        return f"scripted/{self._name}"

    async def complete(self, request: ChatRequest) -> Completion:
        """Answer one request; see `ports.ChatModel`."""
        reply = choose_reply(self._script, request, model=self._name)
        if reply.error is not None:
            raise typed_error(reply.error)
        return Completion(
            text=reply.text,
            tool_calls=reply.tool_calls,
            finish=reply.finish,
            usage=reply.usage,
            model=self.spec,
        )

    async def close(self) -> None:
        """Nothing to release."""


def typed_error(error: ScriptedError) -> ProviderError:
    """The typed error that a provider's client ends in for a scripted failure."""
    said = f"HTTP {error.status} {error.code}: {error.message}"
    if error.kind in ("cut", "eof", "garbage"):
        return ProviderBadAnswer(f"scripted answer is {error.kind}")
    if error.kind == "disconnect":
        return ProviderError("scripted answer: connection dropped")
    if error.kind == "stream":
        limited = "overloaded" in error.code or "rate_limit" in error.code
        return ProviderRateLimited(said) if limited else ProviderError(said)
    if error.status in (429, 529):
        return ProviderRateLimited(said)
    return ProviderError(said) if error.status >= 500 else ProviderRefused(said)
