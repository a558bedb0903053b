"""Cookies that a person has handed over: read from files and browsers, and from answers.

Three forms are told apart by their content: Netscape's ``cookies.txt``, the storage state of
Playwright, and a list of cookies as browsers give it to extensions. No value of a cookie is ever
part of a message or of ``repr``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import msgspec

from trailhound.errors import UNREADABLE, ConfigError

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
