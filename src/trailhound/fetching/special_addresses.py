"""Which IP addresses do not belong to the public web, and why.

The networks come from IANA's special-purpose registries. They are listed here, and not asked of
:mod:`ipaddress`, because the answers of the standard library differ between Python versions.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

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


@lru_cache(maxsize=65536)
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


@lru_cache(maxsize=65536)
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
