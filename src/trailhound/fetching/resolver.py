"""Chosen host names lead to chosen addresses: how the demo web lives under its own names.

``MappedResolver({"*.demo.test": "127.0.0.1:8080"})`` lets ``http://cs.north.demo.test/`` reach a
server on this machine with nothing in the system's hosts file. aiohttp connects to the port that a
resolver returns, so the URL keeps its default port.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aiohttp import DefaultResolver
from aiohttp.abc import AbstractResolver, ResolveResult

from trailhound.errors import ConfigError

_ADDRESS = re.compile(r"\[(?P<v6>[^\]]+)\](?::(?P<p6>\d+))?|(?P<v4>[^:]+)(?::(?P<p4>\d+))?")


_EVERY_HOST = ""
"""What is left of ``*`` without its star."""


@dataclass(frozen=True, slots=True)
class _Endpoint:
    address: str
    port: int | None
    """``None``: the port of the URL."""

    @property
    def family(self) -> socket.AddressFamily:
        return socket.AF_INET6 if ":" in self.address else socket.AF_INET


class MappedResolver(AbstractResolver):
    """Maps names (``www.demo.test``) and suffixes (``*.demo.test``) to ``address[:port]``.

    The exact name wins, then the longest suffix, then ``*``, which is every host. Other names go
    to the system's DNS, or nowhere when ``use_dns`` is false: then nothing leaves the mapped
    addresses. Whether an address may be visited at all is for the address guard to say, as ever.
    """

    def __init__(self, hosts: Mapping[str, str], *, use_dns: bool = True) -> None:
        self._endpoints = {_pattern(name): _endpoint(name, where) for name, where in hosts.items()}
        self._use_dns = use_dns
        self._dns: AbstractResolver | None = None

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The mapped address of ``host``, or what DNS says."""
        endpoint = self._find(host.lower().rstrip("."))
        if endpoint is not None:
            return [_result(host, endpoint, port)]
        if not self._use_dns:
            raise OSError(f"the host name {host} is not mapped and DNS is switched off")
        if self._dns is None:  # not in the constructor: it needs the running loop
            self._dns = DefaultResolver()
        return await self._dns.resolve(host, port, family)

    async def close(self) -> None:
        """Release the system resolver, if it was used."""
        if self._dns is not None:
            await self._dns.close()
            self._dns = None

    def _find(self, host: str) -> _Endpoint | None:
        found = self._endpoints.get(host)
        dot = host.find(".")
        while found is None and dot >= 0:
            found = self._endpoints.get(host[dot:])
            dot = host.find(".", dot + 1)
        return found or self._endpoints.get(_EVERY_HOST)


def _pattern(name: str) -> str:
    """``name`` as it is looked up: a whole name, or the end of one that begins with a dot."""
    pattern = name.lower().removeprefix("*")
    if "*" in pattern or (name.startswith("*") and pattern and not pattern.startswith(".")):
        raise ConfigError(
            f"'{name}' is no host. Write a name (www.example.org), all names below one "
            "(*.example.org), or * for every host."
        )
    return pattern


def _endpoint(name: str, where: str) -> _Endpoint:
    """``where`` as address and port."""
    match = _ADDRESS.fullmatch(where)
    try:
        if match is None:
            raise ValueError("it is neither address nor address:port")
        address = ipaddress.ip_address(match["v6"] or match["v4"])
        port = match["p6"] or match["p4"]
        if port is not None and not 0 < int(port) < 65536:
            raise ValueError("the port is not between 1 and 65535")
    except ValueError as error:
        raise ConfigError(
            f"Cannot map host '{name}' to '{where}': {error}. "
            "Write an IP address with an optional port, for example 127.0.0.1:8080 or [::1]:8080."
        ) from error
    return _Endpoint(str(address), int(port) if port else None)


def _result(host: str, endpoint: _Endpoint, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=endpoint.address,
        port=endpoint.port or port,
        family=endpoint.family,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
    )


def mapped_resolver(entries: Iterable[str]) -> MappedResolver | None:
    """Where hosts are that the settings place, ``HOST=ADDRESS`` each; ``None`` without any."""
    hosts = {}
    for entry in entries:
        host, equals, address = entry.partition("=")
        if not (host and equals and address):
            raise ConfigError(
                f"'{entry}' does not say where a host is. Write HOST=ADDRESS or "
                "HOST=ADDRESS:PORT, for example '*.demo.test=127.0.0.1:8080'."
            )
        hosts[host.strip()] = address.strip()
    return MappedResolver(hosts) if hosts else None
