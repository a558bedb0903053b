"""Hosts that are read as the person who runs the crawl: her secrets go there and nowhere else."""

from __future__ import annotations

import asyncio
import gzip
import json
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from app_server import ServedApp
from command_line import Command, Done
from loopback import served
from trailhound.config.settings import CrawlSettings, FetchSettings, Settings
from trailhound.fetching.base import always
from trailhound.fetching.browser.parts import Asked, Blocklist, KeptParts, PageParts
from trailhound.fetching.http import HttpFetcher
from trailhound.fetching.keyring import AccessFile, Cookie, HostKeys, Keyring, read_access
from trailhound.fetching.resolver import MappedResolver
from trailhound.records import FetchResult, Outcome
from trailhound.topics.access import hosts_that_miss_headers, needs_secrets, with_access
from trailhound.topics.control.running import wait_for_end
from trailhound.topics.crawls.folder import CrawlFolder

COOKIE, FRESH, SECURE, HEADER, LOGIN = (
    "canary-cookie-4711",
    "canary-fresh-4712",
    "canary-secure-4713",
    "canary-header-4714",
    "canary-proxy-4715",
)
CANARIES = (COOKIE, FRESH, SECURE, HEADER, LOGIN)
BEES = "Bees make honey. "


class Web:
    """What all hosts of a small web were asked, and how the members' host answers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.known = {COOKIE, FRESH}

    def paths(self, host: str) -> list[str]:
        return [path for name, path, _ in self.asked if name == host]

    def leaks(self) -> list[str]:
        """Requests of other hosts in which any of the secrets can be seen."""
        return [
            f"{host}{path}"
            for host, path, headers in self.asked
            for canary in CANARIES
            if canary in f"{path} {headers}"
            and (host, canary)
            not in {("members.test", COOKIE), ("members.test", FRESH), ("api.test", HEADER)}
        ]

    def answer(self, host: str, path: str, cookie: str) -> tuple[int, dict[str, str], str]:
        if path == "/robots.txt":
            if host == "lured.test":
                return 302, {"Location": "http://other.test/robots.txt"}, ""
            return 404, {}, ""
        if host == "members.test":
            return self._members(path, cookie)
        if host == "shut.test":
            return 302, {"Location": f"http://shut.test/login?next={quote(path)}"}, ""
        back = "<a href='http://members.test/b'>back</a><a href='http://lured.test/'>lured</a>"
        return 200, {}, f"<title>{host}</title><p>{BEES}{back}"

    def _members(self, path: str, cookie: str) -> tuple[int, dict[str, str], str]:
        if not any(f"session={known}" in cookie for known in self.known):
            if path == "/b":
                return 403, {}, "no"
            return 200, {}, f"<p>{BEES}<form><input name=p type=password></form><a href=/x>x</a>"
        if path == "/jump":
            return 302, {"Location": "http://other.test/landing"}, ""
        if path == "/a":
            return 200, {"Set-Cookie": f"session={FRESH}; Path=/; HttpOnly"}, f"<p>{BEES}"
        links = (
            "<a href=/a>a</a><a href=/b>b</a><a href=/jump>jump</a><a href=/logout>x</a>"
            "<a href=/bye?1>Abmelden</a><a href=/posts/1/delete>x</a>"
            "<a href=http://sub.members.test/>sub</a><a href=http://other.test/>other</a>"
            "<a href=http://api.test/>api</a><a href=http://shut.test/secret>shut</a>"
        )
        return 200, {}, f"<title>Members</title><p>{BEES}{links}"


@contextmanager
def small_web() -> Iterator[tuple[Web, int]]:
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            host = self.headers["Host"]
            web.asked.append((host, self.path, dict(self.headers)))
            cookie = self.headers.get("Cookie", "")
            status, headers, text = web.answer(host, self.path, cookie)
            body = text.encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with served(Handler) as port:
        yield web, port


@pytest.fixture
def web_at() -> Iterator[tuple[Web, int]]:
    with small_web() as found:
        yield found


def crawl(trailhound: Command, port: int, *more: str | Path) -> Done:
    return trailhound(
        "crawl", "bees", "--judge", "keywords:words=honey", "--strategy", "breadth-first",
        "--user-agent", "bees-bot (+https://example.org/bot)", "--resolve",
        f"*.test=127.0.0.1:{port}", "--allow-address", "*.test", *more,
    )  # fmt: skip


def cookies_txt(path: Path, session: str = COOKIE) -> Path:
    path.write_text(
        "# Netscape HTTP Cookie File\n"
        f"#HttpOnly_.members.test\tTRUE\t/\tFALSE\t4102444800\tsession\t{session}\n"
        f"members.test\tFALSE\t/\tTRUE\t0\tonly-safe\t{SECURE}\n"
        f".other.example\tTRUE\t/\tFALSE\t0\tforeign\t{LOGIN}\n"
    )
    return path


def places_of_canaries(folder: Path) -> list[str]:
    """Files in which a secret can be seen, unpacked where they are packed."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            if path.suffix == ".gz":
                content += gzip.decompress(content)
            if any(canary.encode() in content for canary in CANARIES):
                found.append(path.name)
    return sorted(set(found))


def test_secrets_go_to_their_hosts_and_nowhere_else(
    trailhound: Command, workspace_folder: Path, tmp_path: Path, web_at: tuple[Web, int]
) -> None:
    web, port = web_at
    jar = cookies_txt(tmp_path / "cookies.txt")
    (tmp_path / "header.txt").write_text(f"X-Api-Key: {HEADER}\n")
    kept = trailhound("access", "add", "http://api.test", "--header", "@header.txt")
    assert kept.code == 0
    seeds = ("--seed", "http://members.test/", "--seed", "http://members.test/logout")
    hosts = ("--for-host", "members.test", "--for-host", "api.test")
    done = crawl(trailhound, port, *seeds, "--cookies", jar, *hosts, "--max-requests", "40")
    assert done.code == 0, done.err
    jar.unlink()
    (tmp_path / "header.txt").unlink()
    seen = web.paths("members.test")
    assert {"/", "/a", "/b", "/jump"} <= set(seen)
    assert not {"/logout", "/bye?1", "/posts/1/delete"} & set(seen)
    assert {"/landing", "/"} <= set(web.paths("other.test"))
    assert web.paths("sub.members.test")
    assert web.leaks() == []
    sent = [headers.get("Cookie") for host, path, headers in web.asked if host == "members.test"]
    assert {f"session={COOKIE}", f"session={FRESH}"} >= set(sent)
    assert f"session={COOKIE}" in sent
    assert [h["X-Api-Key"] for host, _, h in web.asked if host == "api.test"] == [HEADER] * 2
    assert "shut.test asks to log in: it redirects to http://shut.test/login." in done.err
    # Not a byte of it elsewhere: archive, results, log, records, exports, what is told.
    told = [kept, done, trailhound("results", "bees", "--json"), trailhound("access", "list")]
    told.append(trailhound("access", "list", "--json"))
    told.append(trailhound("explain", "bees", "http://members.test/a"))
    told.append(trailhound("explain", "bees", "http://members.test/bye?1"))
    assert "logs out or changes something" in told[-1].out
    for number, kind in enumerate(("jsonl", "warc", "csv")):
        told.append(trailhound("export", "bees", "--all", "-f", kind, "-o", f"out-{number}.{kind}"))
    assert not any(canary in f"{each.out}{each.err}" for each in told for canary in CANARIES)
    assert places_of_canaries(tmp_path) == ["access.json"]
    access = workspace_folder / "access.json"
    assert FRESH not in access.read_text()  # what a host sets is for this run
    if sys.platform != "win32":
        assert stat.S_IMODE(access.stat().st_mode) == 0o600
    record = json.loads((workspace_folder / "topics/bees/crawl/crawl.json").read_text())
    assert record["settings"]["fetch"]["as_me"] == ["members.test", "api.test"]
    assert [each["host"] for each in told[4].report["hosts"]] == ["api.test", "members.test"]


def test_a_crawl_goes_on_with_new_cookies_where_the_old_ones_were_refused(
    trailhound: Command, workspace_folder: Path, tmp_path: Path, web_at: tuple[Web, int]
) -> None:
    web, port = web_at
    jar = cookies_txt(tmp_path / "cookies.txt", "stale")
    seeds = ("--seed", "http://members.test/", "--seed", "http://members.test/b")
    stay = ("--scope", "members.test", "--max-requests", "20", "--json")
    done = crawl(trailhound, port, *seeds, *stay, "--cookies", jar, "--for-host", "members.test")
    assert "members.test asks to log in: it has a field for a password" in done.err
    assert set(web.paths("members.test")) == {"/robots.txt", "/", "/b"}  # nor its links
    assert json.loads(done.out)["outcomes"] == {"login-wanted": 2}
    fresh = cookies_txt(tmp_path / "fresh.txt")
    again = trailhound(
        "crawl", "bees", "--resume", "--cookies", fresh, "--for-host", "members.test",
        "--max-requests", "40",
    )  # fmt: skip
    assert "2 pages that asked to log in will be asked for again" in again.err
    assert {"/a", "/b"} <= set(web.paths("members.test"))
    # As before, with nothing said: the crawl knows its hosts, the workspace their cookies.
    web.asked.clear()
    more = ("--refresh", "--max-requests", "80")
    assert trailhound("crawl", "bees", *more).code == 0
    assert {f"session={COOKIE}", f"session={FRESH}"} >= {h.get("Cookie") for *_, h in web.asked}
    gone = trailhound("forget", "bees", "--host", "members.test")
    assert "hosts with cookies or headers of yours: 1" in gone.out
    assert not read_access(workspace_folder / "access.json").hosts


def test_the_app_and_forgetting_a_topic(
    trailhound: Command, app: ServedApp, tmp_path: Path, web_at: tuple[Web, int]
) -> None:
    web, port = web_at
    place = ("--workspace", app.workspace.folder)
    jar = cookies_txt(tmp_path / "cookies.txt")
    seeds = ("--seed", "http://members.test/", "--max-requests", "3", *place)
    proxied = ("--proxy", f"host:never.test=http://ann:{LOGIN}@127.0.0.1:9")
    assert not crawl(
        trailhound, port, *seeds, *proxied, "--cookies", jar, "--for-host", "members.test"
    ).code
    assert not web.leaks()
    settings = CrawlFolder(app.workspace.topic("bees")).read().settings.fetch
    assert needs_secrets(with_access(settings, app.workspace.folder))
    alone = msgspec.structs.replace(settings, as_me=())
    assert needs_secrets(with_access(alone, app.workspace.folder))  # the proxy's login
    assert not needs_secrets(FetchSettings(proxies=("http://127.0.0.1:9",), access_file="no.json"))
    jar.unlink()
    paths = ("home", "crawls", "topics/bees/crawl", "topics/bees", "topics/bees/results")
    told = [app.ask("GET", f"/api/{path}")[1].decode() for path in paths]
    assert "bees" in told[0]
    assert not any(canary in each for each in told for canary in CANARIES)
    assert places_of_canaries(tmp_path) == ["access.json"]
    scheduled = trailhound(
        "schedule", "bees", "--nightly", "22:00-06:00", "--set",
        f"fetch.proxies=http://ann:{LOGIN}@127.0.0.1:9", "--json", *place,
    )  # fmt: skip
    assert LOGIN not in scheduled.out
    assert places_of_canaries(tmp_path) == ["access.json"]
    assert trailhound("access", "remove", "http://127.0.0.1:9", *place).code == 0
    (kept,) = app.get("/api/access")
    assert (kept["host"], kept["cookies"], kept["given_by"]) == ("members.test", 2, "file")
    assert app.get("/api/topics/bees/crawl")["setup"]["as_me"] == ["members.test"]
    assert app.get("/api/topics/bees/crawl/choices")["access"] == [kept]
    web.asked.clear()
    asked = {"mode": "resume", "max_requests": 5, "as_me": ["members.test"]}
    app.post("/api/topics/bees/crawl/start", asked)
    wait_for_end(app.workspace.topic("bees"), 60.0)
    assert not web.leaks()
    assert "members.test" in {host for host, *_ in web.asked}
    assert not trailhound("forget", "bees", "--all", *place).code
    assert places_of_canaries(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--cookies", "cookies.txt"], "add --for-host HOST"),
        (["--for-host", "members.test"], "Nothing is kept with which members.test"),
        (["--cookies", "cookies.txt", "--for-host", "a.example"], "is for a.example"),
        (
            ["--cookies", "empty.txt", "--for-host", "a.example"],
            "There are no cookies for a.example",
        ),
        (["--cookies", "broken.txt", "--for-host", "a.example"], "line 1 has 2 fields"),
        (["--cookies", "no.json", "--for-host", "a.example"], "cookie 1 says no domain"),
        (["--header", f"Authorization: {HEADER}"], "--for-host HOST"),
        (["--header", f"Cookie: {HEADER}"], "--for-host HOST"),
        (["--header", f"Proxy-Authorization: {HEADER}"], "--for-host HOST"),
        (["--header", f"X-Api-Token: {HEADER}"], "--for-host HOST"),
        (["--header", HEADER], "'Name: value'"),
        (["--header", f"Host: {HEADER}"], "Leave it out"),
        (
            ["--header", f"X: {HEADER}", "--for-host", "a.test", "--for-host", "b.test"],
            "access add",
        ),
        (["--for-host", "*.test", "--header", f"X: {HEADER}"], "names no host"),
        (["--from", "nobody"], "no mail address"),
        (["--proxy", f"ftp://ann:{LOGIN}@proxy.example"], "no address of a proxy"),
        (["--proxy", "foo"], "no address of a proxy"),
        (["--proxy", f"socks5h://ann:{LOGIN}@proxy.example"], "proxy_resolves=true"),
        (["--proxy", f"never=http://ann:{LOGIN}@proxy.example"], "what a proxy is for"),
    ],
)
def test_mistakes_are_told_without_secrets(
    trailhound: Command, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    cookies_txt(tmp_path / "cookies.txt")
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "broken.txt").write_text(f"members.test\t{COOKIE}\n")
    (tmp_path / "no.json").write_text(json.dumps({"cookies": [{"name": "a", "value": COOKIE}]}))
    done = crawl(trailhound, 9, "--seed", "http://members.test/", *arguments)
    assert complaint in " ".join(done.err.split())
    assert done.code == 2
    assert not any(canary in f"{done.out}{done.err}" for canary in CANARIES)


def test_pages_of_other_hosts_get_nothing_as_the_person(web_at: tuple[Web, int]) -> None:
    """What a browser asks for while it shows a page: her cookies are for pages of the same host."""
    web, port = web_at
    members, other = "http://members.test/", "http://other.test/"
    keyring = Keyring({"members.test": HostKeys((Cookie("session", COOKIE),))})
    resolver = MappedResolver({"*.test": f"127.0.0.1:{port}"}, use_dns=False)

    async def run() -> None:
        http = HttpFetcher(
            "bees-bot (+https://example.org/bot)",
            keyring=keyring,
            resolver=resolver,
            allow_addresses=["*.test"],
        )
        kept = KeptParts()
        try:
            for page in (other, members, other, members.replace("http:", "https:")):
                parts = PageParts(http, kept, Blocklist(), always, page=page)
                headers = {"authorization": "mine", "cookie": "mine"}
                await parts.give(Asked(f"{members}b", "script", headers=headers))
                await parts.give(Asked(f"{members}logout", "fetch"))
                await parts.give(Asked(other, "fetch"))
            shown = FetchResult(members, Outcome.FETCHED, members, body=b"<input type=password>")
            assert http.unless_it_asks_to_log_in(shown).outcome is Outcome.LOGIN_WANTED
            elsewhere = msgspec.structs.replace(shown, final_url=other)
            assert http.unless_it_asks_to_log_in(elsewhere) is elsewhere
        finally:
            await http.close()

    asyncio.run(run())
    sent = [headers.get("Cookie") for _, path, headers in web.asked if path == "/b"]
    assert sent == [None, f"session={COOKIE}", None, f"session={COOKIE}"]
    authorised = [headers.get("authorization") for _, path, headers in web.asked if path == "/b"]
    assert authorised[1] == "mine", "as the page's own script says"
    assert authorised[3] is None, "it was said over https"
    assert "/logout" not in web.paths("members.test")
    assert web.leaks() == []


def test_headers_that_will_not_be_sent_are_told_of(tmp_path: Path) -> None:
    kept = {"a.test": HostKeys(headers=(("X", "y"),)), "b.test": HostKeys(headers=(("X", "y"),))}
    kept["c.test"] = HostKeys(headers=(("X", "y"),), in_clear=True)
    path = tmp_path / "access.json"
    path.write_bytes(msgspec.json.encode(AccessFile(kept)))
    seeds = ("http://A.test/", "https://b.test/", "http://c.test/")
    settings = Settings(
        crawl=CrawlSettings(seeds=seeds),
        fetch=FetchSettings(access_file=str(path), as_me=tuple(kept)),
    )
    assert hosts_that_miss_headers(settings) == ["a.test"]
