"""Which addresses a crawl may connect to: the public web, and what was allowed by name.

The guard is asked three times for each request: about each answer of DNS (:mod:`.resolver`), about
the address of a socket before it connects, and about the peer of the connected socket before a byte
is sent (both in :mod:`.connections`). The last two see the address that is really used, so a
literal address, which no resolver sees, and DNS that changes its answer gain nothing.

The networks come from IANA's special-purpose registries. They are listed here, and not asked of
:mod:`ipaddress`, because the answers of the standard library differ between Python versions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from trailhound.errors import ConfigError
from trailhound.urls import canonicalize, host_key

_V4_NETWORKS = tuple(
    (IPv4Network(network), reason)
    for network, reason in [
        ("0.0.0.0/8", "unspecified, this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier's customers"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's metadata service"),
        ("169.254.0.0/16", "link-local, where clouds keep their metadata"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    ]
)
_V6_NETWORKS = tuple(
    (IPv6Network(network), reason)
    for network, reason in [
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("64:ff9b:1::/48", "a local network's translation to IPv4"),
        ("100::/64", "for discarding"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "for documentation"),
        ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    ]
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # upper half of an interface identifier (RFC 5214)


@lru_cache(maxsize=4096)
def why_not_public(address: str) -> str | None:
    """Why ``address`` is not a place on the public web; ``None`` when it is one.

    An IPv6 address that carries an IPv4 one (mapped, 6to4, Teredo, NAT64, ISATAP) is no better
    than what it carries.
    """
    parsed = parse_address(address)
    if parsed is None:
        return "not an IP address"
    if isinstance(parsed, IPv4Address):
        return _why_not_public_v4(parsed)
    for kind, inner in embedded_addresses(parsed):
        reason = _why_not_public_v4(inner)
        if reason is not None:
            return f"{kind} {inner}, which is {reason}"
    return _why_not_public_v6(parsed)


@lru_cache(maxsize=4096)
def parse_address(text: str) -> IPv4Address | IPv6Address | None:
    """``text`` as an IP address, its zone left out; ``None`` for anything else."""
    try:
        return ip_address(text.partition("%")[0])
    except ValueError:
        return None


def embedded_addresses(address: IPv6Address) -> list[tuple[str, IPv4Address]]:
    """The IPv4 addresses that packets to ``address`` may end at, each with how it got there."""
    found: list[tuple[str, IPv4Address]] = []
    if address.ipv4_mapped is not None:
        found.append(("mapped from", address.ipv4_mapped))
    if address.sixtofour is not None:
        found.append(("a 6to4 form of", address.sixtofour))
    if address.teredo is not None:
        found.extend(("a Teredo form of", inner) for inner in address.teredo)
    low = int(address) & 0xFFFF_FFFF
    if address in _NAT64:
        found.append(("a NAT64 form of", IPv4Address(low)))
    if (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
        found.append(("an ISATAP form of", IPv4Address(low)))
    return found


def _why_not_public_v4(address: IPv4Address) -> str | None:
    return next((reason for network, reason in _V4_NETWORKS if address in network), None)


def _why_not_public_v6(address: IPv6Address) -> str | None:
    if address.ipv4_mapped is not None or address.teredo is not None or address in _NAT64:
        return None  # these lie outside global unicast and are judged by what they carry
    for network, reason in _V6_NETWORKS:
        if address in network:
            return reason
    return None if address in _GLOBAL_UNICAST else "reserved"


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
        self._decide = lru_cache(maxsize=4096)(self._refusal)

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
