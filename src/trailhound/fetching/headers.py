"""Headers: what those of an answer ask for, and a person's own for requests.

Answers ask of robots, and say when to come back. A header of requests that lets somebody in
(``Cookie``, ``Authorization``, ``X-Api-Key`` …) needs a host that it is for; others may be sent to
everybody. No message quotes a value: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from trailhound.errors import ConfigError

# Directives that take a value after a colon; before any other colon stands a robot's name.
_WITH_VALUE = frozenset(
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
)


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """The two wishes that concern a crawl."""

    noindex: bool = False
    nofollow: bool = False


def robots_tags_of(headers: Iterable[tuple[str, str]], product: str) -> RobotsTags:
    """What all headers of an answer ask of robots."""
    wishes = [value for name, value in headers if name.lower() == "x-robots-tag"]
    return read_robots_tags(wishes, product)


def read_robots_tags(headers: Iterable[str], product: str) -> RobotsTags:
    """The wishes addressed to all robots or to ``product``; they add up.

    ``noindex``, ``nofollow`` and ``none`` (both) are known; a name before a colon limits the rest
    of its header to that robot.
    """
    words: set[str] = set()
    for header in headers:
        words |= _words_for(header.lower(), product.lower())
    return RobotsTags(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
    )


def _words_for(header: str, product: str) -> set[str]:
    name, colon, rest = header.partition(":")
    name = name.strip()
    named = colon and "," not in name and " " not in name and name not in _WITH_VALUE
    if named and name not in (product, "*"):
        return set()
    return {word.strip() for word in (rest if named else header).split(",")}


_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:\s*,\s*[0-9]+(?:\.[0-9]*)?)*", re.ASCII)
_MAX_RETRY_CHARS = 200
MAX_RETRY_SECONDS = 24 * 3600.0
"""More than a day is a mistake, or no way to run a crawl: then a day it is."""


def retry_after_seconds(header: str, now: float) -> float | None:
    """Seconds to wait by ``header``: a number of them, or a date; ``None`` if it says neither.

    ``now`` is in seconds since 1970. Dates in the past mean no wait. A header that was joined from
    several counts as its longest; fractions are wrong, and understood.
    """
    text = header.strip()
    if _SECONDS.fullmatch(text[:_MAX_RETRY_CHARS]):
        numbers = (float(each.strip()[:12]) for each in text[:_MAX_RETRY_CHARS].split(","))
        return min(max(numbers), MAX_RETRY_SECONDS)
    try:
        date = parsedate_to_datetime(text)
        if date.tzinfo is None:
            date = date.replace(tzinfo=UTC)
        seconds = date.timestamp() - now
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_SECONDS)


Header = tuple[str, str]

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}")
_SECRET = re.compile(
    "cookie|auth|token|secret|passw|passphrase|session|credential|csrf|xsrf|bearer|signature|jwt"
    "|login|keys?(?![a-z])|(?<![a-z])(?:t?otp|pwd?|pin|sid|sig)(?![a-z])"
)
_INSTEAD = {
    "user-agent": "Say who you are with --user-agent.",
    "from": "Give your mail address with --from.",
}
_OUR_OWN = re.compile(
    "host|content-(length|type)|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect"
    "|accept-encoding|range|if-.*|proxy-connection"
)
_MAX_VALUE_CHARS = 8_000


def read_header(text: str) -> Header:
    """``Name: value`` as name and value; ConfigError when no request can carry it."""
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name):
        raise ConfigError(
            "A header is written as 'Name: value', for example 'Accept-Language: de'. One that was "
            f"given has {'no name' if colon else 'no colon'} that could be read."
        )
    if instead := _INSTEAD.get(name.lower()):
        raise ConfigError(f"The header {name} has an option of its own. {instead}")
    if _OUR_OWN.fullmatch(name.lower()):
        raise ConfigError(f"The header {name} is set by each request itself. Leave it out.")
    if not value or not value.isascii() or not value.isprintable() or len(value) > _MAX_VALUE_CHARS:
        raise ConfigError(
            f"The header {name} has no value that can be sent. Give up to {_MAX_VALUE_CHARS:,} "
            "characters of plain ASCII on one line."
        )
    return name, value


def is_secret(name: str) -> bool:
    """Whether a header of this name may let somebody in."""
    return _SECRET.search(name.lower()) is not None


def headers_for_all(texts: Iterable[str], from_mail: str) -> dict[str, str]:
    """What goes along with every request; ConfigError for what may go to one host alone."""
    headers = dict(map(read_header, texts))
    for name in headers:
        if is_secret(name):
            raise ConfigError(
                f"The header {name} may be a secret, and would go to every host. Say which host it "
                f"is for: --header '{name}: …' --for-host HOST"
            )
    return {**headers, **_from_header(from_mail.strip())}


def _from_header(mail: str) -> dict[str, str]:
    if not mail:
        return {}
    if not re.fullmatch(r"[!-~]{1,200}@[!-~]{1,200}", mail):
        raise ConfigError(
            f"'{mail}' is no mail address. Write it as you@example.org: sites are to reach you."
        )
    return {"From": mail}
