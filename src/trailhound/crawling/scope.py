"""Which part of the web a crawl may visit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from trailhound.config.settings import Settings
from trailhound.errors import ConfigError
from trailhound.urls import canonicalize, host_key, registered_domain

Scope = Callable[[str], bool]


def make_scope(
    allowed: Iterable[str] = (),
    excluded: Iterable[str] = (),
    domains_of: Iterable[str] = (),
) -> Scope | None:
    """A predicate for canonical URLs; ``None`` when everything is allowed.

    ``allowed`` and ``excluded`` hold host names (``example.org``), suffixes (``*.example.org``) and
    beginnings of URLs (``https://example.org/docs/``). ``domains_of`` holds URLs whose registered
    domains are allowed as well.
    """
    inside = [_Area(pattern) for pattern in allowed]
    outside = [_Area(pattern) for pattern in excluded]
    domains = {registered_domain(url) for url in domains_of}
    if not (inside or outside or domains):
        return None
    anywhere = not (inside or domains)

    def in_scope(url: str) -> bool:
        if any(area.holds(url) for area in outside):
            return False
        return (
            anywhere or registered_domain(url) in domains or any(area.holds(url) for area in inside)
        )

    return in_scope


def scope_of(settings: Settings, seeds: Iterable[str]) -> Scope | None:
    """Where a crawl may go; ``seeds`` are all seeds it ever had."""
    crawl = settings.crawl
    return make_scope(crawl.scope, crawl.exclude, seeds if crawl.same_domain else ())


class _Area:
    """One pattern."""

    def __init__(self, pattern: str) -> None:
        text = pattern.strip().lower()
        self._beginning = ""
        self._host = ""
        self._suffix = ""
        if "://" in text:
            self._beginning = _canonical(pattern, pattern.strip())
        elif text.startswith("*."):
            self._suffix = "." + _canonical_host(pattern, text[2:])
        else:
            self._host = _canonical_host(pattern, text)
        self._holds_host = lru_cache(maxsize=4096)(self._matches)

    def holds(self, url: str) -> bool:
        """Whether a canonical URL lies inside."""
        if self._beginning:
            return url.startswith(self._beginning)
        return self._holds_host(host_key(url))

    def _matches(self, host: str) -> bool:
        if self._suffix:
            return host.endswith(self._suffix)
        return host == self._host


def _canonical(pattern: str, url: str) -> str:
    canonical = canonicalize(url)
    if canonical is None:
        raise ConfigError(
            f"The scope '{pattern}' is neither a host nor the beginning of a web address. Write "
            "example.org, *.example.org or https://example.org/docs/."
        )
    return canonical


def _canonical_host(pattern: str, host: str) -> str:
    if "/" in host or "*" in host:
        host = ""
    return host_key(_canonical(pattern, f"http://{host}/"))
