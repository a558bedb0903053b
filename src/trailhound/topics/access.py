"""Cookies and headers by which crawls may read hosts as the person who runs them.

They are in one file of the workspace, ``access.json``, which only its owner can read. A crawl uses
them for the hosts that it names (``--for-host``, ``fetch.as_me``) and no others. Logins of proxies
are kept there as well, so that settings, records and logs hold none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from trailhound.config.settings import FetchSettings, Settings
from trailhound.counting import counted
from trailhound.errors import ConfigError, StorageError, UsageError
from trailhound.fetching.headers import Header, headers_for_all, read_header
from trailhound.fetching.keyring import (
    MAX_COOKIES,
    AccessFile,
    HostKeys,
    OwnedCookie,
    from_browser,
    read_access,
    read_cookies,
)
from trailhound.fetching.proxies import without_logins
from trailhound.storage.files import make_folder, write_private
from trailhound.storage.locks import Ownership
from trailhound.urls import canonicalize, host_key, without_port

ACCESS = "access.json"
"""In the workspace, beside the topics."""
_PATIENCE_SECONDS = 30.0
_MAX_FILE_BYTES = 20_000_000

T = TypeVar("T")


class NamedHost(msgspec.Struct, frozen=True):
    """A host as it was named: ``example.org``, ``example.org:8443``, ``http://wiki.example``."""

    key: str
    """As :func:`~trailhound.urls.host_key` gives it."""
    in_clear: bool
    """Whether ``http://`` was said: headers may go unencrypted, too."""


class HostView(msgspec.Struct, frozen=True):
    """What is kept for one host, without any of it."""

    host: str
    cookies: int
    headers: tuple[str, ...]
    """Their names."""
    given_at: float
    given_by: str


def named_host(text: str) -> NamedHost:
    """The host that a person has named; UsageError when it is none."""
    scheme, mark, rest = text.strip().lower().rpartition("://")
    in_clear = bool(mark) and scheme == "http"
    url = canonicalize(f"{'http' if in_clear else 'https'}://{rest.rstrip('/')}/")
    known_scheme = not mark or scheme in ("http", "https")
    if url is None or not known_scheme or "*" in rest or url.count("/") != _SLASHES:
        raise UsageError(
            f"'{text}' names no host. Write one, as in --for-host www.example.org; each host is "
            "named by itself, also those below another."
        )
    return NamedHost(host_key(url), in_clear)


_SLASHES = 3


class Access:
    """The file of a workspace, by the workspace's folder, or the ``file`` that settings name."""

    def __init__(self, workspace: Path, file: str = "") -> None:
        self.path = Path(file) if file else workspace / ACCESS

    def hosts(self) -> list[HostView]:
        """All hosts for which something is kept, in alphabetical order."""
        kept = read_access(self.path).hosts
        return [
            HostView(
                host,
                len(keys.cookies),
                tuple(name for name, _ in keys.headers),
                keys.given_at,
                keys.given_by,
            )
            for host, keys in sorted(kept.items())
        ]

    def give_cookies(
        self, hosts: Iterable[NamedHost], cookies: Collection[OwnedCookie], by: str
    ) -> int:
        """Keep for each host the cookies that are for it, instead of earlier ones; how many.

        UsageError for a host that none of them is for, and that has nothing else.
        """
        found, known = {}, read_access(self.path).hosts
        for host in hosts:
            name = without_port(host.key)
            sendable = (each.cookie for each in cookies if each.is_for(name) and each.cookie)
            fitting = tuple(sendable)[:MAX_COOKIES]
            if not fitting and host.key not in known:
                raise UsageError(
                    f"{_none_of(cookies, host)} for {host.key}. Log in there with your browser, "
                    "and export its cookies again."
                )
            if fitting:
                found[host.key] = fitting
        with self._changing() as kept:
            for key, fitting in found.items():
                keys = kept.hosts.setdefault(key, HostKeys())
                keys.cookies, keys.given_at, keys.given_by = fitting, time.time(), by
        return sum(map(len, found.values()))

    def give_headers(self, host: NamedHost, headers: Iterable[Header]) -> None:
        """Keep headers for a host, instead of earlier ones."""
        with self._changing() as kept:
            keys = kept.hosts.setdefault(host.key, HostKeys())
            keys.headers, keys.in_clear = tuple(headers), host.in_clear
            keys.given_at, keys.given_by = time.time(), keys.given_by or "command"

    def forget(self, is_forgotten: Callable[[str], bool], *, dry_run: bool = False) -> int:
        """Remove what is kept for hosts; how many they are."""
        if not self.path.exists():
            return 0
        doomed = [host for host in read_access(self.path).hosts if is_forgotten(host)]
        if doomed and not dry_run:
            with self._changing() as kept:
                for host in doomed:
                    kept.hosts.pop(host, None)
        return len(doomed)

    def proxies(self) -> list[str]:
        """Addresses of proxies whose logins are kept."""
        return sorted(read_access(self.path).proxies)

    def remove(self, name: str) -> bool:
        """Remove what is kept for a host or a proxy; whether there was anything."""
        if name in self.proxies():
            with self._changing() as kept:
                return kept.proxies.pop(name, None) is not None
        key = named_host(name).key
        return self.forget(lambda host: host == key) > 0

    def keep_logins(self, proxies: Iterable[str]) -> tuple[str, ...]:
        """The proxies without their logins, which are kept here."""
        shown, logins = without_logins(proxies)
        if logins:
            with self._changing() as kept:
                kept.proxies.update(logins)
        return shown

    @contextmanager
    def _changing(self) -> Iterator[AccessFile]:
        make_folder(self.path.parent)
        busy = StorageError(f"{self.path} is in use by another program. Try again.")
        lock = self.path.with_suffix(".lock")
        with Ownership(lock, in_use=busy, patience_seconds=_PATIENCE_SECONDS):
            kept = read_access(self.path)
            yield kept
            write_private(self.path, msgspec.json.encode(kept))


def cookies_in(path: Path) -> list[OwnedCookie]:
    """All cookies of a file that a person names; ConfigError when they cannot be read."""
    return read_cookies(_content(path), str(path))


def unsendable(cookies: Iterable[OwnedCookie], host: NamedHost) -> int:
    """How many of the cookies for a host no header can carry."""
    name = without_port(host.key)
    return sum(each.cookie is None and each.is_for(name) for each in cookies)


def _none_of(cookies: Collection[OwnedCookie], host: NamedHost) -> str:
    if n_odd := unsendable(cookies, host):
        return f"{counted(n_odd, 'cookie')} of it cannot be sent, and no other is"
    return f"None of the {len(cookies)} cookies is" if cookies else "There are no cookies"


def cookies_of_browser(cookies: list[Any]) -> list[OwnedCookie]:
    """Those that the extension sends."""
    return from_browser(cookies, "What the browser sent")


def headers_in(texts: Iterable[str]) -> list[Header]:
    """Headers as they are given: ``Name: value``, or ``@FILE`` with one in each line.

    ConfigError for what is no header, and for a file without any.
    """
    return [read_header(line) for text in texts for line in _lines(text)]


def _lines(text: str) -> list[str]:
    if not text.startswith("@"):
        return [text]
    content = _content(Path(text[1:])).decode("utf-8-sig", "replace")
    lines = [line for line in content.splitlines() if line.strip() and not line.startswith("#")]
    if not lines:
        raise ConfigError(f"{text[1:]} holds no header. Write one in each line, as 'Name: value'.")
    return lines


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_FILE_BYTES)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}. Check its name, and that you may "
            "read it."
        ) from error


def with_access(settings: FetchSettings, workspace: Path) -> FetchSettings:
    """Settings that say where the workspace keeps secrets, and hold none themselves."""
    if not settings.as_me and not settings.proxies:
        return settings
    access = Access(workspace, settings.access_file)
    return msgspec.structs.replace(
        settings,
        as_me=tuple(dict.fromkeys(named_host(each).key for each in settings.as_me)),
        access_file=str(access.path.absolute()),
        proxies=access.keep_logins(settings.proxies),
    )


def without_secrets(values: dict[str, Any], workspace: Path) -> dict[str, Any]:
    """Settings by ``section.name`` that are to be written down."""
    headers_for_all(values.get("fetch.headers", ()), "")  # raises for secrets
    proxies = values.get("fetch.proxies")
    return values | {"fetch.proxies": Access(workspace).keep_logins(proxies)} if proxies else values


def needs_secrets(settings: FetchSettings) -> bool:
    """Whether a crawl with these settings, as :func:`with_access` gives them, sends any."""
    kept = read_access(Path(settings.access_file)).proxies if settings.proxies else {}
    return bool(settings.as_me) or any(
        entry.endswith(address) for address in kept for entry in settings.proxies
    )


def hosts_without_keys(settings: Settings) -> list[str]:
    """Hosts that a crawl is to read as the person, and for which nothing is kept."""
    return [host for host, keys in _chosen_keys(settings).items() if keys is None]


def hosts_that_miss_headers(settings: Settings) -> list[str]:
    """Hosts whose headers are for https alone, and that a seed asks over http."""
    seeds = (canonicalize(each) or "" for each in settings.crawl.seeds)
    in_clear = {host_key(each) for each in seeds if each.startswith("http://")}
    return [
        host
        for host, keys in _chosen_keys(settings).items()
        if keys is not None and keys.headers and not keys.in_clear and host in in_clear
    ]


def _chosen_keys(settings: Settings) -> dict[str, HostKeys | None]:
    """What is kept for the hosts that a crawl is to read as the person."""
    fetch = settings.fetch
    if not fetch.as_me or not fetch.access_file:
        return {}
    kept = read_access(Path(fetch.access_file)).hosts
    return {host: kept.get(host) for host in fetch.as_me}
