from __future__ import annotations

import asyncio
import socket

import pytest

from trailhound.errors import ConfigError
from trailhound.fetching.resolver import MappedResolver


def resolved(hosts: dict[str, str], host: str, port: int = 80) -> tuple[str, int, int]:
    resolver = MappedResolver(hosts, use_dns=False)
    found = asyncio.run(resolver.resolve(host, port))
    assert len(found) == 1
    return found[0]["host"], found[0]["port"], found[0]["family"]


HOSTS = {
    "*.demo.test": "127.0.0.1:8080",
    "*.north.demo.test": "127.0.0.2:8081",
    "www.north.demo.test": "127.0.0.3",
    "six.test": "[::1]:8082",
}


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("a.demo.test", ("127.0.0.1", 8080, socket.AF_INET)),
        ("A.Demo.Test.", ("127.0.0.1", 8080, socket.AF_INET)),
        ("cs.north.demo.test", ("127.0.0.2", 8081, socket.AF_INET)),
        ("www.north.demo.test", ("127.0.0.3", 80, socket.AF_INET)),
        ("six.test", ("::1", 8082, socket.AF_INET6)),
    ],
)
def test_nearest_mapping_wins(host: str, expected: tuple[str, int, int]) -> None:
    assert resolved(HOSTS, host) == expected


def test_a_star_stands_for_every_host_that_nothing_else_names() -> None:
    hosts = {**HOSTS, "*": "127.0.0.9:9090"}
    assert resolved(hosts, "example.org") == ("127.0.0.9", 9090, socket.AF_INET)
    assert resolved(hosts, "localhost") == ("127.0.0.9", 9090, socket.AF_INET)
    assert resolved(hosts, "a.demo.test") == ("127.0.0.1", 8080, socket.AF_INET)


@pytest.mark.parametrize("name", ["*example.org", "www.*.org", "**", "*.*.org"])
def test_a_star_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="is no host"):
        MappedResolver({name: "127.0.0.1"})


@pytest.mark.parametrize("host", ["demo.test", "notdemo.test", "test", "example.org"])
def test_other_names_go_nowhere_without_dns(host: str) -> None:
    with pytest.raises(OSError, match="not mapped"):
        resolved(HOSTS, host)


def test_other_names_go_to_the_system_resolver() -> None:
    async def look_up() -> str:
        resolver = MappedResolver(HOSTS)
        found = await resolver.resolve("localhost", 80, socket.AF_INET)
        await resolver.close()
        return found[0]["host"]

    assert asyncio.run(look_up()) == "127.0.0.1"


@pytest.mark.parametrize(
    "where", ["", "localhost:80", "127.0.0.1:0", "127.0.0.1:99999", "::1", "1"]
)
def test_unusable_addresses_are_named(where: str) -> None:
    with pytest.raises(ConfigError, match=r"Cannot map host 'a\.test' to"):
        MappedResolver({"a.test": where})
