from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trailhound.urls import (
    MAX_LENGTH,
    canonicalize,
    crawled_urls,
    host_key,
    registered_domain,
    strip_tracking,
)

UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
hosts = st.from_regex(r"\A[a-z][a-z0-9]{0,8}(\.[a-z]{2,5}){1,2}\Z")
# Not only dots: those would be dot segments.
segments = st.text(UNRESERVED, min_size=1, max_size=8).filter(lambda s: s.strip(".") != "")
paths = st.lists(segments, max_size=4).map(lambda parts: "/" + "/".join(parts))
# Characters that URLs treat specially, mixed with any text at all.
ragged = st.text(st.one_of(st.sampled_from("%/.\\?#@:[]|^`{} ;=&\t2eEfF~"), st.characters()))
web_like = st.builds(
    lambda scheme, host, rest: f"{scheme}://{host}{rest}",
    st.sampled_from(["http", "HTTPS", "https"]),
    st.one_of(hosts, st.sampled_from(["[::1]:80", "127.1", "münchen.de", "u:p@h.org:443"])),
    ragged.map(lambda rest: "/" + rest),
)
any_url = st.one_of(web_like, ragged, st.text())


def canonical(url: str, base: str | None = None) -> str:
    result = canonicalize(url, base)
    assert result is not None
    return result


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("HTTP://Example.ORG", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/a/%2e%2E/c", "http://h/c"),
        ("http://h/%7euser/%e4%2f", "http://h/~user/%E4%2F"),
        ("http://h/x?q=%41%3d", "http://h/x?q=A%3D"),
        ("http://h/ü b", "http://h/%C3%BC%20b"),
        ("http://münchen.de/", "http://xn--mnchen-3ya.de/"),
        ("http://h/a#part", "http://h/a"),
        ("http://h/?a=1#b#c", "http://h/?a=1"),
        ("http://h/a?", "http://h/a"),
        ("http://h/a?#b", "http://h/a"),
        ("http://h/a??", "http://h/a??"),
        ("http://h.example./a", "http://h.example/a"),
        ("https://u@h.example.:8443/", "https://h.example:8443/"),
        ("http://user:secret@h/a@b", "http://h/a@b"),
        ("http://trusted.org@h/", "http://h/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[0:0::1]:80/", "http://[::1]/"),
        ("  http://h/a\nb ", "http://h/ab"),
        ("http:\\\\h\\a", "http://h/a"),
        ("http://h/?a[]={1|2}", "http://h/?a%5B%5D=%7B1%7C2%7D"),
        ("http://h/100%", "http://h/100%25"),
        ("http://h/%2%45", "http://h/%252E"),
    ],
)
def test_canonical_form(url: str, expected: str) -> None:
    assert canonicalize(url) == expected


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("c.html", "https://h/a/c.html"),
        ("../c", "https://h/c"),
        ("/c", "https://h/c"),
        ("?q=1", "https://h/a/b?q=1"),
        ("#top", "https://h/a/b?x=1"),
        ("", "https://h/a/b?x=1"),
        ("//other/x", "https://other/x"),
        ("http://other/x", "http://other/x"),
    ],
)
def test_links_resolve_against_the_page(link: str, expected: str) -> None:
    assert canonicalize(link, "https://h/a/b?x=1") == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a/b",
        "//h/x",
        "mailto:a@b",
        "javascript:void(0)",
        "ftp://h/",
        "file:///etc",
        "data:,x",
        "http://",
        "http://a b/",
        "http://h:99999/",
        "http://[::1/",
        "http://h/\ud800",
    ],
)
def test_what_is_no_web_address_gives_none(url: str) -> None:
    assert canonicalize(url) is None


def test_unusable_base_gives_none() -> None:
    assert canonicalize("a", "not a base") is None
    assert canonicalize("a", "mailto:x") is None


@given(any_url, st.one_of(st.none(), any_url))
def test_canonicalising_twice_changes_nothing(url: str, base: str | None) -> None:
    once = canonicalize(url, base)
    assert once is None or canonicalize(once) == once


@given(web_like)
def test_canonical_urls_are_plain_uri_characters(url: str) -> None:
    once = canonicalize(url)
    if once is not None:
        assert once.isascii()
        assert once.isprintable()
        assert "#" not in once
        assert not set(once[once.index("/", 8) :]) & set(' []\\^`{|}"<>')


@given(hosts, paths, st.data())
def test_spellings_of_one_resource_meet(host: str, path: str, data: st.DataObject) -> None:
    plain = canonical(f"http://{host}{path}")
    shouted = f"HTTP://{host.upper()}:80{path}"
    detour = f"http://{host}/./x/..{path}#part"
    flags = [data.draw(st.sampled_from("xXp")) for _ in path]
    escaped = "".join(_spell(character, flag) for character, flag in zip(path, flags, strict=True))
    assert {canonical(shouted), canonical(detour), canonical(f"http://{host}{escaped}")} == {plain}


def _spell(character: str, how: str) -> str:
    if character == "/" or how == "p":
        return character
    return f"%{ord(character):02x}" if how == "x" else f"%{ord(character):02X}"


@given(hosts, hosts, paths, paths)
def test_different_resources_do_not_meet(host: str, other: str, path: str, away: str) -> None:
    same = canonical(f"http://{host}{path}") == canonical(f"http://{other}{away}")
    assert same == ((host, path) == (other, away))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h/", "https://h/"),
        ("http://h/", "http://h:81/"),
        ("http://h/a", "http://h/A"),
        ("http://h/a", "http://h/a/"),
        ("http://h/a/b", "http://h/a%2Fb"),
        ("http://h/?a=1&b=2", "http://h/?b=2&a=1"),
        ("http://h/?a=%26b", "http://h/?a=&b"),
        ("http://h/%25", "http://h/%2525"),
        ("http://h/a+b", "http://h/a%2Bb"),
    ],
)
def test_what_servers_may_tell_apart_stays_apart(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h/?utm_source=x&a=1&UTM_Medium=y&b=2", "http://h/?a=1&b=2"),
        ("http://h/?b=2&gclid=x&a=1", "http://h/?b=2&a=1"),
        ("http://h/?fbclid=x", "http://h/"),
        ("http://h/?PHPSESSID=abc&page=2", "http://h/?page=2"),
        ("http://h/a;jsessionid=0A1B?x=1", "http://h/a?x=1"),
        ("http://h/a;JSESSIONID=0A1B;v=2/b", "http://h/a;v=2/b"),
        ("http://h/a/..;jsessionid=1", "http://h/"),
        ("http://h/?sid=0123456789abcdef0123456789abcdef&t=5", "http://h/?t=5"),
        ("http://h/?sid=7&session_id=3", "http://h/?sid=7&session_id=3"),
        ("http://h/?s=bees&ref=home", "http://h/?s=bees&ref=home"),
        ("http://h/?utm=1&myfbclid=2", "http://h/?utm=1&myfbclid=2"),
        ("http://h/?", "http://h/"),
        ("http://h/a;b=c", "http://h/a;b=c"),
        ("http://;jsessionid=abc/", "http://;jsessionid=abc/"),
    ],
)
def test_tracking_and_session_parameters_go(url: str, expected: str) -> None:
    assert strip_tracking(url) == expected


tracked = st.lists(
    st.sampled_from([";jsessionid=1", "/..", "?", "&", "utm_x=1", "a=1", "sid=", "0" * 16, "%2e"])
).map(lambda parts: "http://h/a" + "".join(parts))


@given(st.one_of(web_like, tracked))
def test_stripping_gives_a_canonical_url_and_twice_changes_nothing(url: str) -> None:
    clean = canonicalize(url)
    if clean is not None:
        stripped = strip_tracking(clean)
        assert canonicalize(stripped) == stripped
        assert strip_tracking(stripped) == stripped


@pytest.mark.parametrize(
    ("typed", "urls"),
    [
        ("http://h.test/a", ["http://h.test/a"]),
        ("h.test/a?utm_x=1", ["https://h.test/a?utm_x=1", "https://h.test/a"]),
        ("h.test:80/a", ["https://h.test:80/a"]),
    ],
)
def test_what_is_typed_may_have_been_asked_for_in_several_ways(typed: str, urls: list[str]) -> None:
    in_clear = [canonicalize(url.replace("https:", "http:")) for url in urls]
    assert crawled_urls(typed) == list(dict.fromkeys((*urls, *in_clear)))


def test_addresses_that_nobody_asks_for_take_no_time() -> None:
    hostile = "http://h.test/?" + "utm_a=1&" * 7_000
    assert strip_tracking(hostile) == hostile
    assert strip_tracking("http://h.test/?" + "utm_a=1&" * 500 + "a=1") == "http://h.test/?a=1"


@pytest.mark.parametrize(
    ("url", "key", "domain"),
    [
        ("https://news.bbc.co.uk/x", "news.bbc.co.uk", "bbc.co.uk"),
        ("http://a.b.example.org:8080/x:9", "a.b.example.org:8080", "example.org"),
        ("http://me.github.io/", "me.github.io", "me.github.io"),
        ("http://www.xn--mnchen-3ya.de/", "www.xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
        ("http://co.uk/", "co.uk", "co.uk"),
        ("http://127.0.0.1:81/", "127.0.0.1:81", "127.0.0.1"),
        ("http://[::1]:81/", "[::1]:81", "[::1]"),
        ("http://www.north.demo.test/", "www.north.demo.test", "www.north.demo.test"),
        ("http://localhost/", "localhost", "localhost"),
    ],
)
def test_keys_of_a_url(url: str, key: str, domain: str) -> None:
    assert host_key(url) == key
    assert registered_domain(url) == domain


@given(web_like)
def test_keys_never_fail_on_canonical_urls(url: str) -> None:
    clean = canonicalize(url)
    if clean is not None:
        assert clean.split("/", 3)[2] == host_key(clean)
        assert host_key(clean).partition(":")[0].endswith(registered_domain(clean)) or (
            "[" in clean
        )


def test_what_is_longer_than_any_server_takes_is_no_address() -> None:
    assert canonicalize("https://bees.example/" + "a" * 20_000) is not None
    assert canonicalize("https://bees.example/" + "a" * MAX_LENGTH) is None
    assert canonicalize("https://bees.example/" + "蜂" * 10_000) is None  # nine characters each
