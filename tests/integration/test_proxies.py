"""Requests through proxies: the right ones, with the guard's promise as far as it goes."""

from __future__ import annotations

import asyncio
import datetime
import errno
import ipaddress
import os
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web
from proxy_servers import HttpProxy, SocksProxy, TestProxy

from loopback import Moving
from trailhound.config.settings import FetchSettings
from trailhound.fetching.http import HttpFetcher
from trailhound.records import FetchResult, Outcome
from trailhound.storage.warc_records import RecordMaker

AGENT = "bees-bot/1.0 (+https://example.org/bot)"
PUBLIC = "93.184.215.14"
"""An address of the public web, to which nothing here connects: the proxies lead elsewhere."""
SECRET = "canary-proxy-4711"


class Site:
    """Says to whom it spoke; robots.txt leads nowhere."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(f"{request.host}{request.path}")
        if request.path == "/robots.txt":
            return web.Response(status=404)
        if request.path == "/closes":
            return web.Response(status=404, headers={"Connection": "close"})
        if request.path == "/hangs-up" and request.transport is not None:
            request.transport.abort()
        if request.path == "/inside":
            return web.Response(status=302, headers={"Location": "http://10.1.2.3/"})
        return web.Response(text="<p>Bees.", content_type="text/html")


@asynccontextmanager
async def serving(site: Site, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.answer)
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def fetch(
    kind: type[TestProxy],
    *urls: str,
    proxies: str = "{}",
    addresses: list[str] | None = None,
    login: tuple[str, str] | None = None,
    context: ssl.SSLContext | None = None,
    resolves: bool = False,
    over_tls: bool = False,
) -> tuple[list[FetchResult], TestProxy, Site]:
    """Fetch through a proxy, at ``{}`` in ``proxies``, with DNS that knows ``addresses`` alone."""

    async def run() -> tuple[list[FetchResult], TestProxy, Site]:
        site = Site()
        async with serving(site) as plain, serving(site, context) as secure:
            names = {
                f"{host}:{port}": served
                for host in ("bees.example", PUBLIC)
                for port, served in ((80, plain), (443, secure))
            }
            async with kind(names, login, context if over_tls else None).serving() as proxy:
                scheme = "socks5" if kind is SocksProxy else "https" if over_tls else "http"
                named = f"ann:{SECRET}@" if login is not None else ""
                settings = FetchSettings(
                    user_agent=AGENT,
                    delay_seconds=0.0,
                    allow_impolite=True,
                    proxies=tuple(
                        proxies.format(f"{scheme}://{named}127.0.0.1:{proxy.port}").split()
                    ),
                    proxy_resolves=resolves,
                    address_delay_seconds=0.0,
                )
                resolver = Moving(addresses if addresses is not None else [PUBLIC])
                fetcher = HttpFetcher.from_settings(settings, resolver=resolver)
                try:
                    asked = [url.replace("PROXY", str(proxy.port)) for url in urls]
                    return [await fetcher.fetch(url) for url in asked], proxy, site
                finally:
                    await fetcher.close()

    return asyncio.run(run())


def test_pages_and_robots_go_through_an_http_proxy() -> None:
    results, proxy, site = fetch(HttpProxy, "http://bees.example/", "http://bees.example/b")
    assert [each.outcome for each in results] == [Outcome.FETCHED] * 2
    assert proxy.asked[0] == "GET http://bees.example/robots.txt"
    assert site.asked == [f"bees.example/{path}" for path in ("robots.txt", "", "b")]
    assert results[0].exchanges[0].address == ""  # nobody here knows where it went


def test_a_proxy_that_refuses_is_quoted_whatever_its_bytes() -> None:
    (result,), _, _ = fetch(HttpProxy, "https://wasps.example/")
    assert "the proxy refuses to connect: HTTP 502 Acc?s refus?" in result.detail


def test_a_socks_proxy_is_told_the_address_that_was_judged() -> None:
    results, proxy, site = fetch(SocksProxy, "http://bees.example/", "http://bees.example/b")
    assert [each.outcome for each in results] == [Outcome.FETCHED] * 2
    assert proxy.asked == [f"{PUBLIC}:80"]  # one connection, kept alive
    assert site.asked == [f"bees.example/{path}" for path in ("robots.txt", "", "b")]
    assert results[0].exchanges[0].address == PUBLIC


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
@pytest.mark.parametrize(
    ("url", "addresses"),
    [
        ("http://bees.example/", ["10.0.0.1"]),
        ("http://bees.example/", ["fd00::1"]),
        ("http://bees.example/", ["::ffff:127.0.0.1"]),
        ("http://127.0.0.1/", []),
        ("http://[::1]/", []),
        ("http://[::ffff:10.0.0.1]/", []),
        ("http://169.254.169.254/latest", []),
    ],
)
def test_inside_addresses_are_refused_before_the_proxy_hears_of_them(
    kind: type[TestProxy], url: str, addresses: list[str]
) -> None:
    results, proxy, _ = fetch(kind, url, addresses=addresses)
    assert results[0].outcome is Outcome.ADDRESS_REFUSED
    assert proxy.asked == []


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_a_redirect_to_an_inside_address_ends_here(kind: type[TestProxy]) -> None:
    results, proxy, _ = fetch(kind, "http://bees.example/inside")
    assert results[0].outcome is Outcome.ADDRESS_REFUSED
    assert not any("10.1.2.3" in each for each in proxy.asked)


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_pages_cannot_reach_the_proxy_itself(kind: type[TestProxy]) -> None:
    """It is at a private address, which is allowed for connections to it alone."""
    results, proxy, _ = fetch(kind, "http://bees.example/", "http://127.0.0.1:PROXY/")
    assert [each.outcome for each in results] == [Outcome.FETCHED, Outcome.ADDRESS_REFUSED]
    assert not any("127.0.0.1" in each for each in proxy.asked)
    results, proxy, _ = fetch(kind, "http://127.0.0.1:PROXY/", proxies="https={}")
    assert results[0].outcome is Outcome.ADDRESS_REFUSED
    assert proxy.asked == []


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_a_login_is_shown_to_the_proxy_and_to_nobody_else(kind: type[TestProxy]) -> None:
    urls = ("http://bees.example/", "http://bees.example/b")
    results, proxy, site = fetch(kind, *urls, login=("ann", SECRET))
    assert [each.outcome for each in results] == [Outcome.FETCHED] * 2
    assert proxy.asked
    exchange = results[0].exchanges[0]
    kept = RecordMaker().request(exchange, "x") + repr(exchange).encode()
    assert SECRET.encode() not in kept
    assert "roxy-" not in repr(exchange)
    results, _, site = fetch(kind, "http://bees.example/", login=("bob", "other"))
    assert results[0].outcome in (Outcome.ROBOTS, Outcome.UNREACHABLE, Outcome.CLIENT_ERROR)
    assert SECRET not in repr(results)
    assert site.asked == []


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_proxies_that_look_up_names_themselves(kind: type[TestProxy]) -> None:
    urls = ("http://bees.example/", "http://localhost/", "http://wiki/", "http://nas.local/")
    results, proxy, site = fetch(kind, *urls, "http://10.0.0.1/", addresses=[], resolves=True)
    assert [each.outcome for each in results] == [Outcome.FETCHED] + [Outcome.ADDRESS_REFUSED] * 4
    assert all("bees.example" in each for each in proxy.asked)
    assert results[0].exchanges[0].address == ""
    assert site.asked == ["bees.example/robots.txt", "bees.example/"]


@pytest.mark.parametrize("resolves", [False, True])
def test_a_server_that_hangs_up_behind_a_proxy_is_asked_once_and_left_alone(
    resolves: bool,
) -> None:
    urls = ("http://bees.example/closes", "http://bees.example/hangs-up")
    (_, result), _, site = fetch(SocksProxy, *urls, resolves=resolves)
    assert result.outcome is Outcome.UNREACHABLE
    assert result.retry_after_seconds is not None
    assert site.asked.count("bees.example/hangs-up") == 1


@pytest.mark.parametrize("resolves", [False, True])
def test_too_few_sockets_for_a_proxy_are_no_fault_of_a_host(
    resolves: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_socket(*_: object, **__: object) -> None:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("python_socks.async_.asyncio._proxy.connect_tcp", no_socket)
    (result,), _, _ = fetch(SocksProxy, "http://bees.example/", resolves=resolves)
    assert result.outcome is Outcome.POSTPONED
    assert "this machine can open no more connections" in result.detail


def test_hosts_and_schemes_have_proxies_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing listens at port 9: whatever is sent there is unreachable.
    dead = "http://127.0.0.1:9"
    results, proxy, _ = fetch(
        HttpProxy, "http://bees.example/", proxies=f"{dead} host:*.example={{}}"
    )
    assert (results[0].outcome, bool(proxy.asked)) == (Outcome.FETCHED, True)
    results, proxy, _ = fetch(HttpProxy, "http://bees.example/", proxies=f"http={dead} https={{}}")
    assert (results[0].outcome, proxy.asked) == (Outcome.UNREACHABLE, [])
    assert "127.0.0.1:9" in results[0].detail
    monkeypatch.setenv("http_proxy", f"http://ann:{SECRET}@127.0.0.1:9")
    results, proxy, _ = fetch(HttpProxy, "http://bees.example/", proxies="env")
    assert (results[0].outcome, proxy.asked) == (Outcome.UNREACHABLE, [])
    assert SECRET not in repr(results)


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """A server's context for bees.example, and the certificate to trust."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "bees.example")])
    here = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("bees.example"), here]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("certificate")
    chain = folder / "both.pem"
    pem = serialization.Encoding.PEM
    form, plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    chain.write_bytes(key.private_bytes(pem, form, plain) + built.public_bytes(pem))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    (folder / "trusted.pem").write_bytes(built.public_bytes(pem))
    return context, folder / "trusted.pem"


@pytest.mark.parametrize("kind", [HttpProxy, SocksProxy])
def test_https_is_verified_behind_a_tunnel(
    kind: type[TestProxy],
    certified: tuple[ssl.SSLContext, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context, trusted = certified
    results, proxy, site = fetch(kind, "https://bees.example/", context=context)
    assert results[0].outcome is Outcome.UNREACHABLE
    assert "secure" in results[0].detail
    assert site.asked == []
    trusting = ssl.create_default_context(cafile=str(trusted))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
    results, proxy, site = fetch(kind, "https://bees.example/", context=context)
    assert results[0].outcome is Outcome.FETCHED, results[0].detail
    place = f"{PUBLIC}:443" if kind is SocksProxy else "CONNECT bees.example:443"
    assert proxy.asked == [place]
    assert site.asked == ["bees.example/robots.txt", "bees.example/"]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_proxy_can_be_spoken_to_over_tls(
    scheme: str, certified: tuple[ssl.SSLContext, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context, trusted = certified
    trusting = ssl.create_default_context(cafile=str(trusted))
    monkeypatch.setattr("aiohttp.connector._SSL_CONTEXT_VERIFIED", trusting)
    login = ("ann", SECRET)
    results, proxy, site = fetch(
        HttpProxy, f"{scheme}://bees.example/", context=context, login=login, over_tls=True
    )
    assert results[0].outcome is Outcome.FETCHED, results[0].detail
    assert proxy.asked
    assert site.asked == ["bees.example/robots.txt", "bees.example/"]
