"""How polite a crawl is to be, and what would be impolite."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace

from trailhound.config.settings import FetchSettings
from trailhound.errors import ConfigError

MIN_DELAY_SECONDS = 0.5
"""Less between two requests to somebody else's machine needs ``allow_impolite``."""
MIN_CRAWL_DELAY_CAP_SECONDS = 10.0
"""A lower cap on a site's Crawl-delay would ignore it; that needs ``allow_impolite`` too."""


@dataclass(frozen=True, slots=True)
class PoliteSettings:
    """Times in seconds."""

    delay_seconds: float = 1.0
    """Between an answer and the next request to its host."""
    address_delay_seconds: float = 0.5
    """Between two requests to one IP address, whichever hosts live there."""
    test_delay_seconds: float = 0.0
    """Instead of both for hosts named ``….test`` on this machine: such names are nobody's (RFC
    6761). Behind any other name, or a bare address, may be a tunnel to somebody else's machine."""
    max_crawl_delay_seconds: float = 60.0
    """A site that asks for more (Crawl-delay) gets this."""
    backoff_seconds: float = 10.0
    """After a first busy answer or time-out; doubles with each further one."""
    max_wait_seconds: float = 5.0
    """A fetch that would have to wait longer for its turn is postponed instead."""
    request_seconds: float = 10.0
    """The longest that one request may take, for what is promised beyond the process."""


UNHURRIED = PoliteSettings(delay_seconds=0.0, address_delay_seconds=0.0)
"""For webs that nobody needs to be spared on: a host waits only when it asks for it."""


def polite_delay(delay_seconds: float | None) -> PoliteSettings:
    """``delay_seconds`` between requests to one host; what is asked for holds on tests, too."""
    if delay_seconds is None:
        return PoliteSettings()
    return PoliteSettings(delay_seconds=delay_seconds, test_delay_seconds=delay_seconds)


def check_politeness(
    settings: PoliteSettings, *, obey_robots: bool, allow_impolite: bool
) -> PoliteSettings:
    """``settings``, if they are possible and either polite or meant to be otherwise."""
    for setting in fields(settings):
        seconds = getattr(settings, setting.name)
        if not (math.isfinite(seconds) and seconds >= 0):
            raise ConfigError(
                f"{setting.name} = {seconds} is no time. Give seconds, 0 or more, for example "
                f"{setting.default}."
            )
    least = {
        "delay_seconds": MIN_DELAY_SECONDS,
        "address_delay_seconds": MIN_DELAY_SECONDS,
        "max_crawl_delay_seconds": MIN_CRAWL_DELAY_CAP_SECONDS,
    }
    if settings.address_delay_seconds == settings.delay_seconds:
        del least["address_delay_seconds"]  # it follows the other
    rude = [
        f"{name} = {getattr(settings, name):g} (polite: {seconds:g} or more)"
        for name, seconds in least.items()
        if getattr(settings, name) < seconds
    ]
    if not obey_robots:
        rude.append("obey_robots = false (polite: true)")
    if rude and not allow_impolite:
        raise ConfigError(
            f"{'; '.join(rude)} would be impolite to the sites you visit. Change it, or set "
            "allow_impolite = true (--allow-impolite) if they have agreed."
        )
    return settings


def polite_settings(settings: FetchSettings) -> PoliteSettings:
    """The delays that ``[fetch]`` asks for."""
    asked = polite_delay(settings.delay_seconds)
    return replace(
        asked,
        address_delay_seconds=min(settings.address_delay_seconds, asked.delay_seconds),
        max_crawl_delay_seconds=settings.max_crawl_delay_seconds,
        request_seconds=settings.timeout_seconds,
    )
