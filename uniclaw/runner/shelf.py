"""What the episodes of a run share: parsed once, with the log of the asset files it came from."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar, cast

from uniclaw.assets import Assets

T = TypeVar("T")


class _Kept(NamedTuple):
    value: object
    assets: Assets
    """Logged what making it read."""


@dataclass
class Shelf:
    """Values by key. A value is shared by episodes that run at the same time: never change it."""

    _kept: dict[Hashable, _Kept] = field(default_factory=dict[Hashable, _Kept])

    def take(self, key: Hashable, make: Callable[[Assets], T], assets: Assets) -> T:
        """The value of a key, made when it is first asked for.

        Args:
            key: names the kind of value and everything it depends on.
            make: reads it from assets.
            assets: of the episode; its log gets what the value was made from.
        """
        kept = self._kept.get(key)
        if kept is None:
            log = Assets(assets.roots)
            kept = self._kept[key] = _Kept(make(log), log)
        assets.used.update(kept.assets.used)
        assets.taken.update(kept.assets.taken)
        return cast("T", kept.value)
