"""What every check of a rubric may state beside what it looks at."""

from uniclaw.records import Record


class CheckBase(Record):
    """Common to all checks."""

    terminal: bool = False
    """When it fires (value 1 in a cap, value 0 in a checkpoint) the attempt cannot recover."""
    approximate: str | None = None
    """Why code decides this line only approximately; reported with the score."""
