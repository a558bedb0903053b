"""Where a crawl may go."""

from __future__ import annotations

import pytest

from trailhound.crawling.scope import make_scope
from trailhound.errors import ConfigError


def test_without_limits_there_is_no_predicate_to_ask() -> None:
    assert make_scope() is None


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("example.org", "https://example.org/a", "https://www.example.org/"),
        ("Example.ORG", "http://example.org/", "http://example.org.evil.test/"),
        ("*.example.org", "https://www.example.org/", "https://example.org/"),
        ("*.example.org", "http://a.b.example.org/", "http://notexample.org/"),
        ("https://example.org/docs/", "https://example.org/docs/x", "https://example.org/blog/"),
        ("https://example.org/docs/", "https://example.org/docs/", "http://example.org/docs/"),
        ("münchen.example", "https://xn--mnchen-3ya.example/", "https://munchen.example/"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1/"),
    ],
)
def test_hosts_suffixes_and_beginnings(pattern: str, inside: str, outside: str) -> None:
    scope = make_scope([pattern])
    assert scope is not None
    assert scope(inside)
    assert not scope(outside)
    unwanted = make_scope(excluded=[pattern])
    assert unwanted is not None
    assert not unwanted(inside)
    assert unwanted(outside)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        ("bank.example", "http://bank.example:8080/", "http://www.bank.example/"),
        ("bank.example", "https://bank.example./x", "https://bank.example.org./"),
        ("bank.example", "https://bank.example.:8443/", "https://notbank.example:8443/"),
        ("bank.example.", "https://bank.example/", "https://bank.examples/"),
        ("*.bank.example", "http://www.bank.example:81/", "http://bank.example:81/"),
        ("*.bank.example", "http://a.www.bank.example./", "http://wwwbank.example./"),
        ("bank.example:8080", "https://bank.example.:8080/", "https://bank.example/"),
        ("bank.example:443", "https://bank.example/", "http://bank.example/"),
        ("bank.example:80", "http://bank.example/", "https://bank.example/"),
        ("*.bank.example:81", "http://www.bank.example:81/", "http://www.bank.example:82/"),
        ("https://bank.example/my/", "https://bank.example./my/x", "https://bank.example./"),
        ("https://bank.example./my/", "https://bank.example/my/x", "https://bank.example/"),
        ("[::1]", "http://[::1]:8080/", "http://[::2]/"),
    ],
)
def test_neither_port_nor_dot_leads_around_an_exclusion(
    pattern: str, inside: str, outside: str
) -> None:
    unwanted = make_scope(excluded=[pattern])
    assert unwanted is not None
    assert not unwanted(inside)
    assert unwanted(outside)


def test_what_is_allowed_is_allowed_at_the_usual_ports() -> None:
    scope = make_scope(["example.org", "*.example.net", "*.example.com:81"])
    assert scope is not None
    assert scope("https://example.org./")
    assert not scope("https://example.org:8443/")
    assert not scope("https://www.example.net:8443/")
    assert scope("https://www.example.com:81/")


def test_the_domains_of_seeds_include_their_other_hosts() -> None:
    scope = make_scope(domains_of=["https://news.bbc.co.uk/x"])
    assert scope is not None
    assert scope("https://www.bbc.co.uk/")
    assert not scope("https://other.co.uk/")


def test_exclusions_win_and_scopes_add_to_each_other() -> None:
    scope = make_scope(["a.test", "b.test"], ["https://a.test/private/"], ["http://c.test/"])
    assert scope is not None
    assert [scope(url) for url in ("http://a.test/", "http://b.test/", "http://c.test/")] == [
        True
    ] * 3
    assert not scope("https://a.test/private/x")


@pytest.mark.parametrize(
    "pattern", ["", "ftp://a.test/", "a.test/docs", "*", "a*.test", "not a host"]
)
def test_patterns_that_cannot_be_meant_are_refused(pattern: str) -> None:
    with pytest.raises(ConfigError, match="Write example"):
        make_scope([pattern])
