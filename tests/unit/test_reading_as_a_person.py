"""Cookies, headers, proxies, and what pages behind a login look like."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import Command
from trailhound.command_links import LinksToLeave, acts_by_address
from trailhound.config.settings import FetchSettings
from trailhound.errors import ConfigError, UsageError
from trailhound.fetching.headers import headers_for_all, read_header
from trailhound.fetching.hops import has_password_field, wants_login
from trailhound.fetching.keyring import (
    MAX_COOKIES,
    Cookie,
    HostKeys,
    Keyring,
    from_browser,
    read_cookies,
    read_set_cookie,
)
from trailhound.fetching.proxies import proxy_rules, without_logins
from trailhound.records import Link
from trailhound.topics.access import Access, named_host, unsendable

NETSCAPE = (
    "# Netscape HTTP Cookie File\n\n"
    "#HttpOnly_.example.org\tTRUE\t/\tTRUE\t4102444800\tsid\tabc\n"
    "www.example.org\tFALSE\t/docs\tFALSE\t0\tlang\t\n"
)
STATE = {
    "cookies": [
        {
            "name": "sid",
            "value": "abc",
            "domain": ".example.org",
            "path": "/",
            "expires": 4102444800,
            "httpOnly": True,
            "secure": True,
        },
        {
            "name": "lang",
            "value": "",
            "domain": "www.example.org",
            "path": "/docs",
            "expires": -1,
            "sameSite": "None",
        },
    ],
    "origins": [],
}
LOG_OUT = (
    "Log out|Log out (Ann)|Sign out|Abmelden|Ausloggen|Se déconnecter|Cerrar sesión|Esci|Sair"
    "|Uitloggen|Logga ut|Wyloguj się|Выйти|Çıkış|ログアウト|로그아웃|退出|تسجيل الخروج"
    "|Delete|Unsubscribe"
)


@pytest.mark.parametrize(
    "content", [NETSCAPE, json.dumps(STATE), "\ufeff" + json.dumps(STATE["cookies"])]
)
def test_the_forms_of_cookie_files_are_told_apart_by_their_content(content: str) -> None:
    sid, lang = read_cookies(content.encode(), "cookies")
    assert sid.cookie == Cookie("sid", "abc", "/", True, 4102444800.0)
    assert lang.cookie == Cookie("lang", "", "/docs")
    hosts = ("example.org", "www.example.org", "a.www.example.org", "badexample.org", "org")
    assert [sid.is_for(host) for host in hosts] == [True, True, True, False, False]
    assert [lang.is_for(host) for host in hosts] == [False, True, False, False, False]
    assert "abc" not in repr(sid)


def test_browsers_say_whether_a_cookie_is_for_one_host() -> None:
    said = {"name": "a", "value": "b", "domain": "example.org", "hostOnly": True}
    assert not from_browser([said], "x")[0].is_for("www.example.org")
    assert from_browser([said | {"hostOnly": False}], "x")[0].is_for("www.example.org")


def test_an_odd_cookie_spoils_no_others(tmp_path: Path) -> None:
    odd = NETSCAPE + "other.test\tFALSE\t/\tFALSE\t0\tnäme\tv\n"
    odd += "example.org\tFALSE\t/\tFALSE\t0\tsmile\t\N{GRINNING FACE}\n"
    cookies = read_cookies(odd.encode(), "cookies")
    access = Access(tmp_path)
    org, www, other = map(named_host, ("example.org", "www.example.org", "other.test"))
    assert access.give_cookies([org, www], cookies, "file") == 1 + 2
    assert [unsendable(cookies, host) for host in (org, www, other)] == [1, 0, 1]
    with pytest.raises(
        UsageError, match=r"1 cookie of it cannot be sent, and no other is for other\.test"
    ):
        access.give_cookies([other], cookies, "file")


def test_letters_of_old_files_and_odd_ends_of_lines_spoil_no_other_cookie() -> None:
    old = NETSCAPE.encode() + "other.test\tFALSE\t/\tFALSE\t0\tn\tcafé\n".encode("latin-1")
    odd = old.replace(b"\n", b"\r\n") + b"odd.test\tFALSE\t/\tFALSE\t0\tn\ta\x0bb\xe2\x80\xa8c"
    cookies = [each.cookie for each in read_cookies(odd, "cookies")]
    sid = Cookie("sid", "abc", "/", True, 4102444800.0)
    assert cookies == [sid, Cookie("lang", "", "/docs"), None, None]
    with pytest.raises(ConfigError, match="it is no text"):
        read_cookies(b"SQLite format 3\0", "cookies")


def test_a_cookie_may_last_longer_than_the_calendar() -> None:
    said = {"name": "a", "value": "b", "domain": "example.org"}
    assert read_cookies(json.dumps([said | {"expires": 10**400}]).encode(), "x")
    for expires in (10**400, 1e300):
        (lasting,) = from_browser([said | {"expires": expires}], "x")
        assert lasting.cookie is not None
        assert lasting.cookie.expires is not None
        assert not lasting.cookie.is_over(4e9)


def test_a_file_without_a_header_takes_nothing_back(trailhound: Command, tmp_path: Path) -> None:
    file = tmp_path / "headers.txt"
    add = ("access", "add", "a.test", "--header", f"@{file}", "--workspace", tmp_path)
    file.write_text("X-Api-Key: secret\n")
    assert trailhound(*add).code == 0
    file.write_text("# nothing yet\n\n")
    done = trailhound(*add)
    assert done.code == 2
    assert "headers.txt holds no header" in " ".join(done.err.split())
    assert Access(tmp_path).hosts()[0].headers == ("X-Api-Key",)


@settings(max_examples=50)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_file_gives_cookies_or_an_error_of_ours(content: bytes) -> None:
    with suppress(ConfigError):
        read_cookies(content, "cookies")


def ring(*cookies: Cookie, in_clear: bool = False, now: float = 1000.0) -> Keyring:
    keys = HostKeys(cookies, (("Authorization", "Bearer t"),), in_clear)
    return Keyring({"a.test": keys, "b.test:8443": HostKeys((Cookie("b", "1"),))}, lambda: now)


def test_a_request_gets_what_is_for_its_host_scheme_path_and_time() -> None:
    keys = ring(
        Cookie("all", "1"),
        Cookie("docs", "2", "/docs"),
        Cookie("safe", "3", "/", True),
        Cookie("old", "4", "/", False, 999.0),
    )
    both = "docs=2; all=1; safe=3"
    assert keys.headers_for("https://a.test/docs/x?y=/") == {
        "Authorization": "Bearer t", "Cookie": both
    }  # fmt: skip
    assert keys.headers_for("http://a.test/docsx") == {"Cookie": "all=1"}
    for url in ("https://a.test:444/", "https://x.a.test/", "https://a.test./", "https://b.test/"):
        assert keys.headers_for(url) == {}
        assert not keys.opens(url)
    assert keys.headers_for("https://b.test:8443/") == {"Cookie": "b=1"}
    assert ring(in_clear=True).headers_for("http://a.test/") == {"Authorization": "Bearer t"}


def test_cookies_that_are_taken_back_take_no_room() -> None:
    keys = ring(Cookie("old", "1"))
    for n in range(2 * MAX_COOKIES):
        keys.heard(f"https://a.test/{n}/", [f"seen=1; Max-Age=0; Path=/{n}"])
    keys.heard("https://a.test/", ["session=fresh", "old=; Max-Age=0; Path=/"])
    assert keys.headers_for("https://a.test/")["Cookie"] == "session=fresh"


def test_what_a_page_says_of_itself_stays_where_nothing_is_kept_instead() -> None:
    sent = {"authorization": "page", "cookie": "page", "x-page": "1"}
    assert ring().with_keys(sent, "https://a.test/") == {
        "x-page": "1", "Authorization": "Bearer t"
    }  # fmt: skip
    assert ring().with_keys(sent, "http://a.test/") == {"x-page": "1"}
    assert ring().with_keys(sent, "https://b.test:8443/") == {
        "authorization": "page", "x-page": "1", "Cookie": "b=1"
    }  # fmt: skip


def test_what_a_host_sets_is_for_that_host_and_replaces_what_it_had() -> None:
    keys = ring(Cookie("sid", "old"))
    keys.heard("http://a.test/x/y", ["sid=new; Path=/; Domain=.test", "here=1", "safe=1; Secure"])
    keys.heard("http://c.test/", ["sid=other; Domain=a.test; Path=/"])
    assert keys.headers_for("http://a.test/x/z") == {"Cookie": "here=1; sid=new"}
    assert keys.headers_for("http://a.test/") == {"Cookie": "sid=new"}
    assert keys.headers_for("https://b.test:8443/") == {"Cookie": "b=1"}
    keys.heard("http://a.test/", ["sid=; Max-Age=0", "here=2; path=/x; expires=never"])
    assert keys.headers_for("http://a.test/x/z") == {"Cookie": "here=2"}
    keys.heard("http://a.test/", ["here=; path=/x; expires=Thu, 01 Jan 1970 00:00:00 GMT"])
    assert keys.headers_for("http://a.test/x/z") == {}


def test_an_answer_over_http_changes_no_secure_cookie() -> None:
    keys = ring(Cookie("sid", "safe", "/", True))
    keys.heard(
        "http://a.test/", ["sid=forged; Path=/", "sid=; Path=/; Max-Age=0", "sid=x; Path=/x"]
    )
    assert keys.headers_for("https://a.test/x/")["Cookie"] == "sid=safe"
    keys.heard("https://a.test/", ["sid=new; Path=/; Secure"])
    assert keys.headers_for("https://a.test/")["Cookie"] == "sid=new"


@settings(max_examples=50)
@given(st.text(max_size=100))
def test_any_set_cookie_header_is_read_or_left(header: str) -> None:
    found = read_set_cookie(header, "/a/b", True, time.time())
    assert found is None or (found.value + found.name).isascii()


_SECRET_NAMES = (
    "Cookie authorization Proxy-Authorization X-API-Key x-csrf-token Ocp-Apim-Subscription-Key "
    "X-API_KEY X-Functions-Key X-Master-Key X-Access-Key X-ApiKeys X-Signature X-Bearer X-JWT "
    "X-Otp X_PW X-Login"
)
_HARMLESS_NAMES = "Accept-Language X-Keyboard DNT X-Design Sec-GPC X-Topic Referer X-Spinach"


def test_headers_for_all_hold_nothing_secret() -> None:
    assert headers_for_all(["Accept-Language: de, en"], "ann@example.org") == {
        "Accept-Language": "de, en", "From": "ann@example.org"
    }  # fmt: skip
    assert len(headers_for_all([f"{name}: 1" for name in _HARMLESS_NAMES.split()], "")) == 8
    for name in _SECRET_NAMES.split():
        with pytest.raises(ConfigError, match="--for-host"):
            headers_for_all([f"{name}: hush"], "")
    for wrong in ("User-Agent: x", "Host: x", "Accept: a\nCookie: b", "no colon", "X: ü", "X:"):
        with pytest.raises(ConfigError) as caught:
            read_header(wrong)
        assert "hush" not in str(caught.value)


def test_the_most_precise_proxy_counts() -> None:
    entries = (
        "http://all.example", "https=http://safe.example:8080", "host:bees.example=direct",
        "host:*.bees.example=socks5://[::1]:9050", "host:x.bees.example=https://u:p@one.example",
    )  # fmt: skip
    rules = proxy_rules(FetchSettings(proxies=entries))
    assert rules is not None
    found = {
        url: proxy.address if (proxy := rules.proxy_for(url)) else None
        for url in (
            "http://a.test/",
            "https://a.test/",
            "https://bees.example/",
            "http://y.bees.example:81/",
            "http://x.bees.example/",
        )
    }
    assert list(found.values()) == [
        "http://all.example:80", "http://safe.example:8080", None, "socks5://[::1]:9050",
        "https://one.example:443",
    ]  # fmt: skip
    shown, logins = without_logins(entries)
    assert shown[1:] == (*entries[1:4], "host:x.bees.example=https://one.example:443")
    assert list(logins) == ["https://one.example:443"]
    assert without_logins(shown) == (shown, {})
    assert "p@" not in repr(rules.proxy_for("http://x.bees.example/")) + repr(logins)


@pytest.mark.parametrize(
    ("target", "is_login"),
    [
        ("https://a.test/login?next=/x/y", True),
        ("https://a.test/login?next=%2Fx%2Fy%3Fp%3D1%23top", True),
        ("https://a.test/login?next=%252Fx%252Fy", True),
        ("https://accounts.a.test/ServiceLogin?continue=https://a.test/x/y/", True),
        ("https://a.test/wp-login.php?redirect_to=https%3A%2F%2Fa.test%2Fx%2Fy&reauth=1", True),
        ("https://a.test/wiki/Special:UserLogin?returnto=Y", True),
        ("https://a.test/anmelden?returnUrl=/old", True),
        ("https://sso.a.test/cas?service=https://a.test/callback", True),
        ("https://idp.test/saml?SAMLRequest=fZJN", True),
        ("https://idp.test/oauth2/authorize?client_id=7&redirect_uri=https://a.test/code", True),
        ("https://a.test/login", False),
        ("https://a.test/login?next=", False),
        ("https://a.test/what-is-oauth?ref=rss", False),
        ("https://a.test/birds/identification?from=home", False),
        ("https://www.a.test/login/y?p=1", False),
        ("https://www.a.test/auth?from=/x/y", False),
        ("https://www.a.test/auth?p=2&from=/x/y", False),
        ("https://a.test/blog-in-spring?next=/x/y", False),
        ("https://a.test/catalogue?from=/x/y", False),
        ("https://a.test/authors?url=/x/y", False),
    ],
)
def test_redirects_that_ask_to_log_in(target: str, is_login: bool) -> None:
    asked = ["http://a.test/old?from=/x/y", "https://a.test/x/y?p=1"]
    assert wants_login(target, asked) is is_login


@pytest.mark.parametrize(
    ("asked", "target"),
    [
        ("http://a.test/cas?from=/cas", "http://www.a.test/cas?from=/cas"),
        ("http://a.test/", "http://a.test/login?next=x"),
    ],
)
def test_redirects_that_only_look_like_it(asked: str, target: str) -> None:
    assert not wants_login(target, [asked])


@pytest.mark.parametrize(
    ("body", "has_field"),
    [
        (b"<form><INPUT name=p TYPE='password'>", True),
        (b"<script>x = '<input type=password>'</script><p>your password", False),
        (b'<script>1</script><input\n class=x type = "password" />', True),
        (b"<input type=text> type=password", False),
        (b"<script><input type=password>", False),
        (b"<p>Bees.", False),
    ],
)
def test_fields_for_passwords(body: bytes, has_field: bool) -> None:
    assert has_password_field(body) is has_field


@pytest.mark.parametrize(
    ("path", "words", "is_left"),
    [
        ("/logout", "", True),
        ("/users/sign_out", "", True),
        ("/wp-login.php?action=logout&_wpnonce=1", "", True),
        ("/index.php?title=Special:UserLogout", "", True),
        ("/d%C3%A9connexion", "", True),
        ("/posts/3/delete", "", True),
        ("/unsubscribe.aspx?id=1", "", True),
        ("/how-to-delete-files", "", False),
        ("/log-out-of-things", "", False),
        *(("/x", words, True) for words in LOG_OUT.split("|")),
        ("/x", "How to log out of everything at once", False),
        ("/x", "Delete files with rm", False),
        ("/x", "", False),
    ],
)
def test_links_that_log_out_or_change_something(path: str, words: str, is_left: bool) -> None:
    leaving = LinksToLeave(["a.test"])
    mine, other = Link(f"https://a.test{path}", words), Link(f"https://b.test{path}", words)
    left = leaving.left_out([mine, other])
    assert (leaving.is_command(mine.url) or mine.url in left) is is_left
    assert not leaving.is_command(other.url)
    assert other.url not in left


@pytest.mark.parametrize(
    ("path", "acts"),
    [
        ("wiki/Delete", False),
        ("vote/texas", False),
        ("account/logout", False),
        ("story/2024", False),
        ("account/7/delete", True),
        ("unsubscribe/1f0c", True),
        ("unsubscribe/ann@example.org", True),
        ("unsubscribe/ann%40example.org", True),
        ("newsletter/kJdhEoPqZx/optout", True),
        ("w%C3%B6rter/l%C3%B6schen", False),
        ("wiki/Special:UserLogout", False),
        ("en-US/docs/JavaScript/API/delete", False),
        ("wiki/O'Reilly_&_Sons/Delete", False),
        ("cart?remove=all", True),
        ("?q=hive", False),
    ],
)
def test_an_address_that_names_nobody_does_nothing_to_a_stranger(path: str, acts: bool) -> None:
    assert acts_by_address(f"http://mine.test/{path}") is acts
