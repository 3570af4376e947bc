"""The user simulator: persona, brief and view in, one feedback message out.

Sees a `UserView` and nothing else; must not import anything of the hidden side.
"""

from typing import Protocol

from uniclaw.records import UserView
from uniclaw.user_simulator.fixed import NeutralSimulator, RepeatSimulator
from uniclaw.user_simulator.model import ModelSimulator
from uniclaw.user_simulator.personas import load_persona, persona_names
from uniclaw.user_simulator.prompts import SimulatorPrompts
from uniclaw.user_simulator.template import Templates, TemplateSimulator, neutral_message

__all__ = [
    "ModelSimulator",
    "NeutralSimulator",
    "RepeatSimulator",
    "SimulatorPrompts",
    "TemplateSimulator",
    "Templates",
    "UserSimulator",
    "load_persona",
    "neutral_message",
    "persona_names",
]


class UserSimulator(Protocol):
    """Writes the next user message from what the user sees."""

    async def draft(self, view: UserView) -> str:
        """One message to the executor.

        Raises:
            SimulatorError: no usable message came about.
            ProviderError: the model's provider failed.
        """
        ...
