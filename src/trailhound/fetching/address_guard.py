"""Which addresses a crawl may connect to: the public web, and what was allowed by name.

The guard is asked three times for each request: about each answer of DNS (:mod:`.address_book`),
about the address of a socket before it connects, and about the peer of the connected socket before
a byte is sent (both in :mod:`.connections`). The last two see the address that is really used, so a
literal address, which no resolver sees, and DNS that changes its answer gain nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network

from trailhound.errors import ConfigError
from trailhound.fetching.special_addresses import (
    embedded_addresses,
    parse_address,
    why_not_public,
)
from trailhound.urls import canonicalize, host_key


class AddressRefusedError(OSError):
    """A connection to an address that the crawl may not use; aiohttp passes it on."""


class AddressGuard:
    """Refuses addresses that are not public, unless ``allow`` names them.

    ``allow`` holds host names (``intranet.example``), suffixes (``*.demo.test``), addresses and
    networks (``127.0.0.0/8``). A name allows its host every address; a network allows its
    addresses to every host.
    """

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._networks: list[IPv4Network | IPv6Network] = []
        self._names: set[str] = set()
        for entry in allow:
            self._allow(entry.strip().lower())
        self._decide = lru_cache(maxsize=65536)(self._refusal)

    def refusal(self, host: str, address: str) -> str | None:
        """Why a connection for ``host`` may not go to ``address``; ``None`` when it may."""
        return self._decide(host, address)

    def check(self, host: str, address: str) -> None:
        """Raise :class:`AddressRefusedError` when :meth:`refusal` has a reason."""
        reason = self.refusal(host, address)
        if reason is not None:
            raise AddressRefusedError(reason)

    def _allow(self, entry: str) -> None:
        suffix = entry.startswith("*.")
        host = _canonical_host(entry.removeprefix("*."))
        network = _network(entry) or _network(host)
        if network is not None and not suffix:
            self._networks.append(network)
        elif network is None and host:
            self._names.add(f".{host}" if suffix else host)
        else:
            raise ConfigError(
                f"Cannot allow the address '{entry}': it is neither a host name, nor a suffix such "
                "as *.demo.test, nor an address or network such as 127.0.0.0/8."
            )

    def _refusal(self, host: str, address: str) -> str | None:
        reason = why_not_public(address)
        if reason is None or self._is_named(host.lower().rstrip(".")) or self._is_listed(address):
            return None
        place = address if address == host else f"{host or 'the connection'} is at {address}, which"
        return f"{place} is {reason}; allow_addresses can permit it by name"

    def _is_named(self, host: str) -> bool:
        if host in self._names:
            return True
        labels = host.split(".")
        return any(f".{'.'.join(labels[n:])}" in self._names for n in range(1, len(labels)))

    def _is_listed(self, address: str) -> bool:
        parsed = parse_address(address)
        if parsed is None:
            return False
        forms: list[object] = [parsed]
        if isinstance(parsed, IPv6Address):
            forms.extend(inner for _, inner in embedded_addresses(parsed))
        return any(form in network for form in forms for network in self._networks)


def _canonical_host(name: str) -> str:
    """A host name as URLs will spell it (lower case, punycode); empty when it is none."""
    if any(sign in name for sign in "/\\:*?#@%"):
        return ""
    url = canonicalize(f"http://{name}/")
    return host_key(url).rstrip(".") if url is not None else ""


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return None
