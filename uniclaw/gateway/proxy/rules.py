"""Which hosts a task may reach, and at which addresses."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from uniclaw.errors import UserError

WEB_PORTS = (80, 443)
_HOST = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)(\.(?!-)[a-z0-9_-]{1,63}(?<!-))*\.?\Z")


class Denied(Exception):
    """A request that the task's rules do not allow; the text is told to the agent."""


@dataclass(frozen=True)
class Pattern:
    """One entry of an allow-list: `HOST`, `*.DOMAIN`, either with `:PORT`."""

    host: str
    below: bool
    """Everything under the domain, and not the domain itself."""
    port: int | None
    """None: 80 and 443."""

    def matches(self, host: str, port: int) -> bool:
        """Whether a request goes there."""
        if port not in (WEB_PORTS if self.port is None else (self.port,)):
            return False
        return host.endswith(f".{self.host}") if self.below else host == self.host


def parse_pattern(text: str) -> Pattern:
    """Read an entry.

    Raises:
        UserError: it is no host name with an optional port.
    """
    name, colon, number = text.strip().lower().partition(":")
    below = name.startswith("*.")
    host = name.removeprefix("*.").rstrip(".")
    port = int(number) if number.isascii() and number.isdecimal() else None
    if not _HOST.match(host) or (colon and not (port and port < 65536)):
        raise UserError("expected HOST, *.DOMAIN or HOST:PORT", field="network", value=text)
    return Pattern(host, below, port)


@dataclass(frozen=True)
class Rules:
    """What one task may reach."""

    allowed: tuple[Pattern, ...] | None
    """None: every public host."""
    private: frozenset[tuple[str, int]] = frozenset()
    """Host and port of servers on this machine or its network that may be reached all the same;
    set by whoever runs the experiment, never by a task."""

    @classmethod
    def of(
        cls,
        network: Literal["open"] | Sequence[str],
        private: frozenset[tuple[str, int]] = frozenset(),
    ) -> "Rules":
        """The rules of a task's `network`."""
        if network == "open":
            return cls(None, private)
        return cls(tuple(parse_pattern(entry) for entry in network), private)

    def check(self, host: str, port: int) -> None:
        """See whether a host may be reached.

        Raises:
            Denied: it may not.
        """
        name = host.lower().rstrip(".")
        if self.allowed is None:
            if port not in WEB_PORTS and (name, port) not in self.private:
                raise Denied(f"port {port} is not open to this task")
        elif not any(pattern.matches(name, port) for pattern in self.allowed):
            raise Denied(f"{name}:{port} is not among the hosts that this task may reach")

    async def addresses(self, host: str, port: int) -> list[str]:
        """Addresses of a host; the one that is dialled is one of those that were looked at.

        Raises:
            Denied: it has none, or one that is not public.
        """
        name = host.lower().rstrip(".")
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Denied(f"{name} cannot be resolved") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if (name, port) in self.private:
            return addresses
        for address in addresses:
            if not _public(address):
                raise Denied(f"{name} is an address inside this machine's network")
        return addresses


def _public(address: str) -> bool:
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None, None))[1]
        if inner is not None:
            return inner.is_global and not inner.is_multicast
    return parsed.is_global and not parsed.is_multicast
