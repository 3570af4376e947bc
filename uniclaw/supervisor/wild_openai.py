"""Stands in for the `openai` package in a grader container whose image has none.

Only what imported graders use of it: `OpenAI(...).chat.completions.create(...)`, without
streaming. An image's own package is found first. Standard library only.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from typing import cast

TRIES = 3
UNSENT = ("extra_headers", "extra_query", "stream")


class OpenAIError(Exception):
    """Root of the errors."""


class APIError(OpenAIError):
    """The server answered with an error, or with nothing usable."""


class APIConnectionError(APIError):
    """The server could not be reached."""


class APITimeoutError(APIConnectionError):
    """The server took too long."""


class APIStatusError(APIError):
    """The server answered with a status of 400 or more."""

    def __init__(self, message: str, status_code: int = 0) -> None:
        super().__init__(message)
        self.status_code = status_code


class BadRequestError(APIStatusError):
    """Status 400."""


class RateLimitError(APIStatusError):
    """Status 429."""


class Node:
    """A JSON object whose members are attributes; absent ones are None."""

    def __init__(self, members: dict[str, object]) -> None:
        self._members = members
        for name, value in members.items():
            setattr(self, name, _node(value))

    def __getattr__(self, name: str) -> object:
        """None for what the server did not say."""
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def model_dump(self, **_: object) -> dict[str, object]:
        """The object as it came."""
        return self._members

    def model_dump_json(self, **_: object) -> str:
        """The object as text."""
        return json.dumps(self._members)


def _node(value: object) -> object:
    if isinstance(value, dict):
        return Node(cast("dict[str, object]", value))
    if isinstance(value, list):
        return [_node(member) for member in cast("list[object]", value)]
    return value


class Completions:
    """`client.chat.completions`."""

    def __init__(self, client: OpenAI) -> None:
        self._client = client

    def create(self, **body: object) -> object:
        """Ask the model."""
        extra = body.pop("extra_body", None)
        timeout = body.pop("timeout", None)
        for name in UNSENT:
            body.pop(name, None)
        if isinstance(extra, dict):
            body.update(cast("dict[str, object]", extra))
        seconds = float(timeout) if isinstance(timeout, (int, float)) else self._client.timeout
        return _node(self._client.post("/chat/completions", body, seconds))


class Chat:
    """`client.chat`."""

    def __init__(self, client: OpenAI) -> None:
        self.completions = Completions(client)


class OpenAI:
    """The client; keyword arguments that are not known here change nothing."""

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        timeout: object = 60.0,
        max_retries: int = 2,
        **_: object,
    ) -> None:
        self.api_key = api_key or os.environ.get("OPENAI_API_KEY", "")
        base = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        self.base_url = str(base).rstrip("/")
        self.timeout = float(timeout) if isinstance(timeout, (int, float)) else 60.0
        self._tries = max(1, min(TRIES, int(max_retries) + 1))
        self.chat = Chat(self)

    def post(self, path: str, body: dict[str, object], timeout: float) -> object:
        """One request, tried again where that may help."""
        for attempt in range(self._tries - 1):
            try:
                return self._post(path, body, timeout)
            except (APIConnectionError, RateLimitError):
                time.sleep(0.5 * 2**attempt)
        return self._post(path, body, timeout)

    def _post(self, path: str, body: dict[str, object], timeout: float) -> object:
        request = urllib.request.Request(
            self.base_url + path,
            data=json.dumps(body).encode(),
            headers={
                "Content-Type": "application/json",
                "Authorization": f"Bearer {self.api_key}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            said = error.read()[:2000].decode("utf-8", "replace")
            kind = {400: BadRequestError, 429: RateLimitError}.get(error.code, APIStatusError)
            raise kind(f"Error code: {error.code} - {said}", error.code) from error
        except TimeoutError as error:
            raise APITimeoutError("Request timed out.") from error
        except (OSError, ValueError) as error:
            raise APIConnectionError(f"Connection error: {error}") from error


Client = OpenAI
