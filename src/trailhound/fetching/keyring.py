"""What lets a crawl read hosts as the person who runs it: cookies and headers, by host.

They are in a private file that the settings name (``fetch.access_file``); the hosts that a crawl
may use them for are named in ``fetch.as_me``. A request gets those of exactly its own host and
port, so that no redirect, robots.txt or link carries them elsewhere. What such a host sets
meanwhile is remembered as long as the crawl runs and not written anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from trailhound.config.settings import FetchSettings
from trailhound.errors import UNREADABLE, ConfigError
from trailhound.fetching.cookies import MAX_COOKIES, Cookie, read_set_cookie
from trailhound.urls import host_key

HIDDEN_FROM_ALL = frozenset({"proxy-authorization", "proxy-authenticate"})
"""Headers, in lower case, that are between us and a proxy."""
_ALWAYS_HIDDEN = frozenset({"cookie", "authorization", "set-cookie", "set-cookie2"})


class HostKeys(msgspec.Struct, omit_defaults=True):
    """What one host is to get."""

    cookies: tuple[Cookie, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    in_clear: bool = False
    """Whether the headers may go over http as well."""
    given_at: float = 0.0
    """Seconds since 1970."""
    given_by: str = ""
    """``file``, ``command`` or ``browser``."""

    def __repr__(self) -> str:
        return f"HostKeys({len(self.cookies)} cookies, {len(self.headers)} headers)"


class ProxyLogin(msgspec.Struct, frozen=True):
    """Who we are to a proxy."""

    user: str
    password: str

    def __repr__(self) -> str:
        return "ProxyLogin()"


class AccessFile(msgspec.Struct):
    """The private file."""

    hosts: dict[str, HostKeys] = {}
    """By host, with a port that is not the usual one."""
    proxies: dict[str, ProxyLogin] = {}
    """By the proxy's address, without the login."""
    format: str = "trailhound-access"
    version: int = 1


def read_access(path: Path) -> AccessFile:
    """The file at ``path``; an empty one when there is none. No error quotes what is in it."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=AccessFile)
    except FileNotFoundError:
        return AccessFile()
    except OSError as error:
        raise ConfigError(
            f"{path}, where cookies and headers are kept, cannot be read: "
            f"{error.strerror or error}. Check that you may read it."
        ) from error
    except UNREADABLE:
        raise ConfigError(
            f"{path}, where cookies and headers are kept, is damaged. Delete it, and give them "
            "again with --cookies or --header."
        ) from None


class Keyring:
    """Gives each request what its host is to get."""

    def __init__(
        self, hosts: Mapping[str, HostKeys], clock: Callable[[], float] = time.time
    ) -> None:
        self._clock = clock
        self.hosts = frozenset(hosts)
        self._headers = {host: keys.headers for host, keys in hosts.items()}
        self._in_clear = {host for host, keys in hosts.items() if keys.in_clear}
        self._cookies = {
            host: {(each.name, each.path): each for each in keys.cookies}
            for host, keys in hosts.items()
        }
        own = {name.lower() for keys in hosts.values() for name, _ in keys.headers}
        self.hidden = HIDDEN_FROM_ALL | _ALWAYS_HIDDEN | own
        """Headers, in lower case, of which nothing is kept: neither sent nor received."""

    def opens(self, url: str) -> bool:
        """Whether the host of ``url`` is read as the person."""
        return host_key(url) in self.hosts

    def headers_for(self, url: str) -> dict[str, str]:
        """What goes along with a request for ``url`` (canonical)."""
        host, is_secure = host_key(url), url.startswith("https://")
        headers: dict[str, str] = {}
        if is_secure or host in self._in_clear:
            headers.update(self._headers.get(host, ()))
        path = url[url.index("/", 8) :].partition("?")[0]
        now = self._clock()
        fitting = [
            each for each in self._cookies.get(host, {}).values() if each.fits(path, is_secure, now)
        ]
        fitting.sort(key=lambda each: -len(each.path))
        said = next((name for name in headers if name.lower() == "cookie"), "Cookie")
        pairs = [*filter(None, [headers.get(said, "")]), *(f"{c.name}={c.value}" for c in fitting)]
        return {**headers, said: "; ".join(pairs)} if pairs else headers

    def with_keys(self, headers: Mapping[str, str], url: str) -> dict[str, str]:
        """Headers of a request, and what goes along with it; others of the same names go.

        What a page's own script says it is authorised by stays, where nothing is kept instead.
        """
        own = {name.lower() for name, _ in self._headers.get(host_key(url), ())}
        dropped = self.hidden if "authorization" in own else self.hidden - {"authorization"}
        plain = {name: value for name, value in headers.items() if name.lower() not in dropped}
        return plain | self.headers_for(url)

    def heard(self, url: str, set_cookies: Iterable[str]) -> None:
        """Remember what the host of ``url`` sets, as long as this run goes on."""
        jar = self._cookies.get(host_key(url))
        if jar is None:
            return
        path = url[url.index("/", 8) :].partition("?")[0]
        now = self._clock()
        is_secure = url.startswith("https://")
        # Anybody on the way may have written an answer over http: it changes no secure cookie.
        fixed = {name for (name, _), kept in jar.items() if kept.secure and not is_secure}
        for header in set_cookies:
            cookie = read_set_cookie(header, path, is_secure, now)
            if cookie is None or cookie.name in fixed:
                continue
            if cookie.is_over(now):  # the way to take one back
                jar.pop((cookie.name, cookie.path), None)
            elif (cookie.name, cookie.path) in jar or len(jar) < MAX_COOKIES:
                jar[cookie.name, cookie.path] = cookie


def keyring_of(settings: FetchSettings) -> Keyring | None:
    """For the hosts that the settings name; ``None`` without any for which something is kept."""
    if not settings.as_me or not settings.access_file:
        return None
    kept = read_access(Path(settings.access_file)).hosts
    found = {host: kept[host] for host in settings.as_me if host in kept}
    return Keyring(found) if found else None
