"""Where episodes are played: in this process, or as Ray tasks on the machines of a cluster."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from uniclaw.errors import UserError

if TYPE_CHECKING:
    from uniclaw.runner.ray_start import Fleet
    from uniclaw.runner.seats import Workshop

LOCAL, RAY = "local", "ray"


class Engine(NamedTuple):
    """What `--engine` names."""

    name: str
    address: str | None = None
    """Of a Ray cluster's head; None starts one on this machine, or takes `RAY_ADDRESS`."""

    @property
    def local(self) -> bool:
        """Episodes are played in this process."""
        return self.name == LOCAL


def parse_engine(text: str) -> Engine:
    """`local` or `ray[:ADDRESS]`.

    Raises:
        UserError: anything else.
    """
    name, colon, address = text.partition(":")
    known = text == LOCAL or (name == RAY and bool(address) == bool(colon))
    if not known:
        raise UserError("expected local or ray[:ADDRESS]", field="engine", value=text)
    return Engine(name, address or None)


@contextmanager
def fleet_of(
    engine: Engine, workshop: "Workshop", notify: Callable[[str], None]
) -> "Generator[Fleet | None]":
    """The machines that an engine plays a run on; None for this process.

    Args:
        engine: where to play.
        workshop: of the run.
        notify: says what goes on.

    Raises:
        UserError: no cluster answers, or none of its machines can play the run.
    """
    if engine.local:
        yield None
        return
    # Here and not above: they need Ray, which is an extra, and this module.
    from uniclaw.runner.ray_cluster import connect
    from uniclaw.runner.ray_start import fleet

    parallel = workshop.settings.parallel
    with fleet(workshop, lambda: connect(engine.address, parallel=parallel), notify) as found:
        yield found
