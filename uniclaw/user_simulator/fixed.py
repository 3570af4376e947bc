"""Users of control arms: their messages depend on nothing that the executor did."""

from uniclaw.records import UserView
from uniclaw.user_simulator.template import Templates, neutral_message


class RepeatSimulator:
    """Says the instruction again: another round, and no feedback in it."""

    async def draft(self, view: UserView) -> str:
        """The instruction."""
        return view.instruction


class NeutralSimulator:
    """Says each time that the work should be looked at again."""

    def __init__(self, templates: Templates, seed: int) -> None:
        self._templates = templates
        self._seed = seed

    async def draft(self, view: UserView) -> str:
        """The neutral text; a question is answered from the brief."""
        return neutral_message(
            self._templates,
            view.language,
            asked=view.asked,
            brief=view.brief,
            question=view.rounds[-1].final_message,
            key=self._seed,
        )
