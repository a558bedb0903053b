"""Which part of the web a crawl may visit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from trailhound.config.settings import Settings
from trailhound.errors import ConfigError
from trailhound.urls import canonicalize, host_key, origin_of, registered_domain

Scope = Callable[[str], bool]

_PORT = re.compile(r":([0-9]+)\Z")


def make_scope(
    allowed: Iterable[str] = (),
    excluded: Iterable[str] = (),
    domains_of: Iterable[str] = (),
) -> Scope | None:
    """A predicate for canonical URLs; ``None`` when everything is allowed.

    ``allowed`` and ``excluded`` hold host names (``example.org``), suffixes (``*.example.org``) and
    beginnings of URLs (``https://example.org/docs/``). ``domains_of`` holds URLs whose registered
    domains are allowed as well.

    A dot at the end of a host's name changes nothing. A name without a port allows the usual
    ports, and excludes all of them.
    """
    inside = [_Area(pattern, any_port=False) for pattern in allowed]
    outside = [_Area(pattern, any_port=True) for pattern in excluded]
    domains = {registered_domain(url) for url in domains_of}
    return _Areas(inside, outside, domains) if inside or outside or domains else None


def scope_of(settings: Settings, seeds: Iterable[str]) -> Scope | None:
    """Where a crawl may go; ``seeds`` are all seeds it ever had."""
    crawl = settings.crawl
    return make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())


class _Areas:
    """The :data:`Scope` that patterns make."""

    def __init__(self, inside: list[_Area], outside: list[_Area], domains: set[str]) -> None:
        self._inside = inside
        self._outside = outside
        self._domains = domains
        self._anywhere = not (inside or domains)

    def __call__(self, url: str) -> bool:
        if self.excludes(url):
            return False
        return (
            self._anywhere
            or registered_domain(url) in self._domains
            or any(area.holds(url) for area in self._inside)
        )

    def excludes(self, url: str) -> bool:
        """See :class:`trailhound.fetching.base.Excluding`."""
        return any(area.holds(url) for area in self._outside)


class _Area:
    """One pattern; without a port in it, ``any_port`` says whether all ports are meant."""

    def __init__(self, pattern: str, *, any_port: bool) -> None:
        text = pattern.strip().lower()
        self._beginning = ""
        self._name = ""
        self._port = ""
        self._any_port = any_port
        if "://" in text:
            self._beginning = _without_dot(_canonical(pattern, pattern.strip()))
        else:
            below = "." if text.startswith("*.") else ""
            host = text.removeprefix("*.")
            self._name = below + _canonical_name(pattern, host)
            if port := _PORT.search(host):
                self._port = str(int(port[1]))
        self._holds_origin = lru_cache(maxsize=4096)(self._matches)

    def holds(self, url: str) -> bool:
        """Whether a canonical URL lies inside."""
        if self._beginning:
            return _without_dot(url).startswith(self._beginning)
        return self._holds_origin(origin_of(url))

    def _matches(self, origin: str) -> bool:
        name, port = _name_and_port(host_key(origin))
        if self._port:
            usual = "443" if origin.startswith("https") else "80"
            if (port or usual) != self._port:
                return False
        elif port and not self._any_port:
            return False
        return name.endswith(self._name) if self._name.startswith(".") else name == self._name


def _name_and_port(host: str) -> tuple[str, str]:
    """The name without a dot at its end, and the port; empty for the scheme's own."""
    port = _PORT.search(host)
    name = host[: port.start()] if port else host
    return name.removesuffix("."), port[1] if port else ""


def _without_dot(url: str) -> str:
    host = host_key(url)
    name, port = _name_and_port(host)
    return url.replace(host, f"{name}:{port}" if port else name, 1)


def _canonical(pattern: str, url: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(
            f"The scope '{pattern}' is neither a host nor the beginning of a web address. Write "
            "example.org, *.example.org or https://example.org/docs/."
        )
    return canonical


def _canonical_name(pattern: str, host: str) -> str:
    if "/" in host or "*" in host:
        host = ""
    return _name_and_port(host_key(_canonical(pattern, f"http://{host}/")))[0]
