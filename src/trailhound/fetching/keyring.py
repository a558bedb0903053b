"""What lets a crawl read hosts as the person who runs it: cookies and headers, by host.

They are in a private file that the settings name (``fetch.access_file``); the hosts that a crawl
may use them for are named in ``fetch.as_me``. A request gets those of exactly its own host and
port, so that no redirect, robots.txt or link carries them elsewhere. What such a host sets
meanwhile is remembered as long as the crawl runs and not written anywhere.

Cookies that a person hands over come in three forms, told apart by their content: Netscape's
``cookies.txt``, the storage state of Playwright, and a list of cookies as browsers give it to
extensions. No value of a cookie is ever part of a message or of ``repr``.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import msgspec

from trailhound.config.settings import FetchSettings
from trailhound.errors import UNREADABLE, ConfigError
from trailhound.urls import host_key

MAX_COOKIES = 300
"""Of one host; browsers keep 180."""
_MAX_CHARS = 4096  # of name and value together, as in browsers
_NEVER = 253_402_300_799.0  # the end of the year 9999, in seconds since 1970
_HTTP_ONLY = "#HttpOnly_"
_FIELDS = 7
_NOT_IN_NAME = re.compile(r"[^!#$%&'*+\-.^_`|~0-9A-Za-z\[\]:/@]")
_NOT_IN_VALUE = re.compile(r"[^\x20-\x3a\x3c-\x7e]")


class Cookie(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One cookie of one host."""

    name: str
    value: str
    path: str = "/"
    secure: bool = False
    """Whether it goes over https alone."""
    expires: float | None = None
    """Seconds since 1970; ``None``: when the session ends."""

    def __repr__(self) -> str:
        return f"Cookie({self.name!r})"

    def is_over(self, now: float) -> bool:
        """Whether its time is up."""
        return self.expires is not None and self.expires <= now

    def fits(self, path: str, is_secure: bool, now: float) -> bool:
        """Whether it goes along with a request for ``path`` (without the query) now."""
        if (self.secure and not is_secure) or self.is_over(now):
            return False
        below = self.path if self.path.endswith("/") else f"{self.path}/"
        return path == self.path or path.startswith(below)


class OwnedCookie(msgspec.Struct, frozen=True):
    """A cookie with the hosts that it is for."""

    cookie: Cookie | None
    """``None`` for one that no header can carry."""
    domain: str
    """Lower case, without a dot in front."""
    with_subdomains: bool = False

    def is_for(self, host: str) -> bool:
        """Whether a browser would send it to ``host`` (a name without a port)."""
        if host == self.domain:
            return True
        return self.with_subdomains and host.endswith(f".{self.domain}")


def read_cookies(content: bytes, where: str) -> list[OwnedCookie]:
    """All cookies in a file called ``where``; ConfigError when it has none of the three forms.

    What cannot be sent is no error: it may be another host's.
    """
    if b"\0" in content:
        raise _unreadable(where, "it is no text")
    text = content.decode("utf-8-sig", "replace").strip()
    if text.startswith(("{", "[")):
        return _from_json(text, where)
    # Values may hold what else ends a line to Python.
    return list(_from_lines(text.replace("\r\n", "\n").split("\n"), where))


def from_browser(cookies: Iterable[Any], where: str) -> list[OwnedCookie]:
    """Cookies as objects: of a storage state, or of ``chrome.cookies``."""
    return [_from_object(each, number, where) for number, each in enumerate(cookies, 1)]


def _from_json(text: str, where: str) -> list[OwnedCookie]:
    try:
        found = msgspec.json.decode(text)
    except UNREADABLE:
        raise _unreadable(where, "it begins like JSON and is none") from None
    listed = found.get("cookies") if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise _unreadable(where, "it is JSON without a list of cookies")
    return from_browser(listed, where)


def _from_object(found: Any, number: int, where: str) -> OwnedCookie:
    said = found if isinstance(found, dict) else {}
    domain = said.get("domain")
    if not isinstance(domain, str) or not domain.strip("."):
        raise _unreadable(where, f"cookie {number} says no domain")
    name, value, path = (said.get(key, "") for key in ("name", "value", "path"))
    expires = said.get("expires", said.get("expirationDate"))
    cookie = _checked(name, value, path or "/", said.get("secure") is True, expires)
    host_only = said.get("hostOnly")
    below = domain.startswith(".") if host_only is None else host_only is not True
    return OwnedCookie(cookie, domain.strip(".").lower(), below)


def _from_lines(lines: Sequence[str], where: str) -> Iterable[OwnedCookie]:
    for number, line in enumerate(lines, 1):
        entry = line.removeprefix(_HTTP_ONLY)
        if not entry.strip() or (entry.startswith("#") and entry is line):
            continue
        fields = entry.split("\t")
        if len(fields) == _FIELDS - 1:  # a cookie without a value
            fields.append("")
        if len(fields) != _FIELDS:
            reason = f"line {number} has {len(fields)} fields between tabs, not {_FIELDS}"
            raise _unreadable(where, reason)
        domain, below, path, secure, expires, name, value = fields
        at = float(expires) if re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", expires) else 0.0
        cookie = _checked(name, value, path, secure.upper() == "TRUE", at)
        if not domain.strip("."):
            raise _unreadable(where, f"line {number} says no domain")
        yield OwnedCookie(cookie, domain.strip(".").lower(), below.upper() == "TRUE")


def _checked(name: Any, value: Any, path: Any, secure: bool, expires: Any) -> Cookie | None:
    """A cookie that a header can carry; no time, zero and -1 mean: until the session ends."""
    if not (isinstance(name, str) and isinstance(value, str) and isinstance(path, str)):
        return None
    is_sound = not _NOT_IN_NAME.search(name) and not _NOT_IN_VALUE.search(value)
    if not name or not is_sound or len(name) + len(value) > _MAX_CHARS:
        return None
    lasting = isinstance(expires, int | float) and expires > 0
    at = float(min(expires, _NEVER)) if lasting else None
    return Cookie(name, value, path if path.startswith("/") else "/", secure, at)


def _unreadable(where: str, reason: str) -> ConfigError:
    return ConfigError(
        f"{where} holds no cookies that can be read: {reason}. Export them again, as cookies.txt "
        "(Netscape's form) or as Playwright's storage state."
    )


def read_set_cookie(header: str, path: str, is_secure: bool, now: float) -> Cookie | None:
    """What a ``Set-Cookie`` header asks for, after RFC 6265; one that has expired takes back.

    Its ``Domain`` is not looked at: what a host sets is for that host alone. ``path`` is that of
    the request. ``None`` for what makes no sense.
    """
    first, *attributes = header[: 2 * _MAX_CHARS].split(";")
    name, equals, value = (part.strip() for part in first.partition("="))
    said = {
        key.strip().lower(): text.strip()
        for key, _, text in (each.partition("=") for each in attributes)
    }
    secure = "secure" in said
    if not equals or (secure and not is_secure):
        return None
    default = path[: path.rfind("/")] or "/"
    where = said.get("path", "")
    kept = where if where.startswith("/") else default
    return _checked(name, value, kept, secure, _expiry(said, now))


def _expiry(said: dict[str, str], now: float) -> float | None:
    if re.fullmatch(r"-?[0-9]{1,12}", said.get("max-age", "")):
        return max(now + float(said["max-age"]), 1.0)
    if "expires" not in said:
        return None
    try:
        return max(parsedate_to_datetime(said["expires"]).timestamp(), 1.0)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


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
