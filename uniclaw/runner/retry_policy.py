"""Which outcomes are followed by another attempt, and how many.

Nobody's score is tried again: the error that ended the attempt says whether that may help
(`errors`, attribute `retry`); where no error is known, the outcome does. At most
`max_attempts` attempts fail; those cut off by the end of the runner are not the machine's
trouble and do not count. What the agent caused is scored and never tried again.
"""

from typing import Annotated

from pydantic import Field

from uniclaw.episode.graph import Ending
from uniclaw.records import Outcome, Record

RETRIED = frozenset(
    {
        Outcome.RATE_LIMITED,
        Outcome.JUDGE_ERROR,
        Outcome.SIMULATOR_ERROR,
        Outcome.ENVIRONMENT_LOST,
        Outcome.INFRA_ERROR,
    }
)
"""Outcomes that another attempt may mend when nothing more is known."""


class AttemptPolicy(Record):
    """How often an episode is tried."""

    max_attempts: Annotated[int, Field(ge=1)] = 2

    def again(self, ending: Ending, failed: int) -> bool:
        """Whether another attempt follows.

        Args:
            ending: of the attempt that just ended.
            failed: attempts that failed, this one included.
        """
        if ending.outcome.scored or failed >= self.max_attempts:
            return False
        return ending.outcome in RETRIED and ending.retry is not False
