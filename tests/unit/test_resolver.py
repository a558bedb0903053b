"""Where hosts live."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from aiohttp.abc import AbstractResolver, ResolveResult

from loopback import Moving
from trailhound.errors import ConfigError
from trailhound.fetching.address_guard import AddressGuard, AddressRefusedError
from trailhound.fetching.resolver import AddressBook, MappedResolver, SystemResolver

T = TypeVar("T")
PUBLIC = "93.184.216.34"
PUBLIC_6 = "2606:4700::1111"


def with_book(
    resolver: AbstractResolver, use: Callable[[AddressBook], Awaitable[T]], now: list[float]
) -> T:
    async def run() -> T:
        book = AddressBook(AddressGuard(), resolver, ttl_seconds=300, clock=lambda: now[0])
        try:
            return await use(book)
        finally:
            await book.close()

    return asyncio.run(run())


async def addresses(book: AddressBook, host: str = "a.example") -> list[str]:
    return [found["host"] for found in await book.resolve(host, 80, socket.AF_UNSPEC)]


def test_of_mixed_answers_only_the_permitted_are_handed_out() -> None:
    resolver = Moving(["10.0.0.1", PUBLIC, "::1", PUBLIC_6])
    assert with_book(resolver, addresses, [0.0]) == [PUBLIC, PUBLIC_6]


def test_no_permitted_address_is_a_refusal() -> None:
    with pytest.raises(
        AddressRefusedError, match=r"a\.example is at 10\.0\.0\.1, which is private"
    ):
        with_book(Moving(["10.0.0.1", "::1"]), addresses, [0.0])


def test_an_answer_is_kept_while_dns_changes_its_mind() -> None:
    now = [0.0]
    resolver = Moving([PUBLIC], ["127.0.0.1"])

    async def use(book: AddressBook) -> list[object]:
        seen: list[object] = [await book.first_address("a.example", 80), await addresses(book)]
        now[0] = 299.0
        seen += [book.known_address("a.example", 80), await addresses(book)]
        now[0] = 300.0  # the next answer is judged anew
        assert book.known_address("a.example", 80) is None
        with pytest.raises(AddressRefusedError):
            await addresses(book)
        return seen

    assert with_book(resolver, use, now) == [PUBLIC, [PUBLIC], PUBLIC, [PUBLIC]]
    assert resolver.asked == 2


def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    resolver = Moving([PUBLIC])

    async def use(book: AddressBook) -> list[list[str]]:
        return await asyncio.gather(*[addresses(book) for _ in range(5)])

    assert with_book(resolver, use, [0.0]) == [[PUBLIC]] * 5
    assert resolver.asked == 1


def test_who_gives_up_does_not_stop_the_others() -> None:
    async def use(book: AddressBook) -> list[str]:
        impatient = asyncio.ensure_future(addresses(book))
        patient = asyncio.ensure_future(addresses(book))
        await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert with_book(Moving([PUBLIC]), use, [0.0]) == [PUBLIC]


@pytest.mark.parametrize("literal", ["127.0.0.1", "::1", "169.254.169.254"])
def test_literal_addresses_are_judged_though_no_resolver_sees_them(literal: str) -> None:
    resolver = Moving([PUBLIC])

    async def use(book: AddressBook) -> str:
        return await book.first_address(literal, 80)

    with pytest.raises(AddressRefusedError, match="allow_addresses"):
        with_book(resolver, use, [0.0])
    assert resolver.asked == 0


def test_the_address_that_answered_is_tried_first() -> None:
    async def use(book: AddressBook) -> str:
        await addresses(book)
        book.prefer("a.example", 80, PUBLIC)
        return await book.first_address("a.example", 80)

    assert with_book(Moving([PUBLIC_6, PUBLIC]), use, [0.0]) == PUBLIC


def test_only_the_family_that_was_asked_for() -> None:
    async def use(book: AddressBook) -> list[ResolveResult]:
        return await book.resolve("a.example", 80, socket.AF_INET)

    found = with_book(Moving([PUBLIC_6, PUBLIC]), use, [0.0])
    assert [place["host"] for place in found] == [PUBLIC]


def test_a_name_without_addresses_is_an_error() -> None:
    with pytest.raises(OSError, match="has no address"):
        with_book(Moving([]), addresses, [0.0])


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


def test_names_that_never_answer_hold_up_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = threading.Event()

    def look_up(host: str, port: int, *_: object) -> list[object]:
        if host == "slow.example":
            answer.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)

    async def ask() -> str:
        resolver = SystemResolver()
        slow = [asyncio.ensure_future(resolver.resolve("slow.example", 80)) for _ in range(50)]
        await asyncio.sleep(0)
        (place,) = await resolver.resolve("honest.example", 80)
        answer.set()
        await asyncio.gather(*slow)
        return str(place["host"])

    assert asyncio.run(ask()) == "93.184.216.34"
