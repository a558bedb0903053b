"""Headers of a person's own for requests: which may be sent to everybody, and which to nobody else.

A header that lets somebody in (``Cookie``, ``Authorization``, ``X-Api-Key`` …) needs a host that it
is for. No message quotes a value: it may be a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from trailhound.errors import ConfigError

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
_MAX_CHARS = 8_000


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
    if not value or not value.isascii() or not value.isprintable() or len(value) > _MAX_CHARS:
        raise ConfigError(
            f"The header {name} has no value that can be sent. Give up to {_MAX_CHARS:,} "
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
