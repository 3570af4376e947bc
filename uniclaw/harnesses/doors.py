"""A gateway's door as harnesses that run inside an environment see it.

Must not know any harness.
"""

from uniclaw import errors
from uniclaw.environments.network import DOOR_URL
from uniclaw.errors import ProviderError, UniclawError
from uniclaw.gateway.gateway import Door, Gateway
from uniclaw.ports import ModelDoor

CONTEXT_TOKENS = 200_000
"""Context window told to harnesses where the model's own is not known."""


def model_door(
    gateway: Gateway, episode_id: str, door: Door, *, context_tokens: int = CONTEXT_TOKENS
) -> ModelDoor:
    """The door of an open episode, as reached through the network sidecar.

    Args:
        gateway: The gateway that opened it.
        episode_id: The episode, as the gateway knows it.
        door: What `Gateway.open_episode` gave; its `socket_dir` is the environment's `door`.
        context_tokens: Size of the model's context window.
    """

    def failed() -> str | None:
        bill = gateway.bill(episode_id)
        if bill.stopped is not None and bill.budget is None:
            return _outcome(bill.stopped)
        return None if bill.provider_error is None else _outcome(bill.provider_error)

    return ModelDoor(
        url=DOOR_URL,
        token=door.token,
        model=door.model,
        spent=lambda: gateway.spent(episode_id),
        waited_s=lambda: gateway.waits(episode_id),
        stopped=lambda: gateway.bill(episode_id).budget,
        failed=failed,
        context_tokens=context_tokens,
    )


def _outcome(told: str) -> str:
    """Outcome of the error whose class stands first in the gateway's words."""
    kind: object = getattr(errors, told.partition(":")[0], None)
    if isinstance(kind, type) and issubclass(kind, UniclawError):
        return kind.outcome
    return ProviderError.outcome
